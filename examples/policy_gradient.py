"""REINFORCE on a corridor: walk right to reach the goal before the time is over.

The environment follows the usual interface (reset, step) and is written here, so nothing else is needed.
"""

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class Corridor:
    """A corridor of `length` cells. The state is the position, coded one-hot."""

    def __init__(self, length=6, time=20):
        self.length = length
        self.time = time
        self.position = 0
        self.elapsed = 0

    def reset(self):
        self.position, self.elapsed = 0, 0
        return self._state()

    def step(self, action):
        self.position = max(0, self.position + (1 if action == 1 else -1))
        self.elapsed += 1
        reached = self.position >= self.length - 1
        done = reached or self.elapsed >= self.time
        return self._state(), 1.0 if reached else -0.05, done

    def _state(self):
        state = np.zeros(self.length, dtype=np.float32)
        state[min(self.position, self.length - 1)] = 1.0
        return state


class Policy(nn.Module):
    def __init__(self, observations, actions, hidden=32):
        super().__init__()
        self.affine = nn.Linear(observations, hidden)
        self.head = nn.Linear(hidden, actions)

    def forward(self, x):
        return torch.softmax(self.head(torch.relu(self.affine(x))), dim=-1)


class Agent:
    def __init__(self, env, lr=1e-2, gamma=0.98, seed=0):
        self.policy = Policy(env.length, 2)
        self.optimizer = optim.Adam(self.policy.parameters(), lr=lr)
        self.gamma = gamma
        self.rng = np.random.default_rng(seed)

    def act(self, state):
        probs = self.policy(torch.from_numpy(state))
        action = self.rng.choice(2, p=probs.numpy())
        return int(action), torch.log(probs[action])

    def returns(self, rewards):
        total, out = 0.0, []
        for reward in reversed(rewards):
            total = reward + self.gamma * total
            out.insert(0, total)
        out = torch.tensor(out)
        return (out - out.mean()) / (out.std() + 1e-8)

    def learn(self, log_probs, rewards):
        loss = -(torch.stack(log_probs) * self.returns(rewards)).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def run_episode(env, agent):
    log_probs, rewards = [], []
    state, done = env.reset(), False
    while not done:
        action, log_prob = agent.act(state)
        state, reward, done = env.step(action)
        log_probs.append(log_prob)
        rewards.append(reward)
    return log_probs, rewards


def main(episodes=30):
    torch.manual_seed(3)
    env = Corridor()
    agent = Agent(env)
    running = 0.0
    for episode in range(episodes):
        log_probs, rewards = run_episode(env, agent)
        loss = agent.learn(log_probs, rewards)
        running = 0.9 * running + 0.1 * sum(rewards)
        if episode % 10 == 0:
            print(f"episode {episode}: return {sum(rewards):.2f}, running {running:.2f}, loss {loss:.3f}")


if __name__ == "__main__":
    main()
