"""Deep Q-learning with a target network and a replay memory, on a small grid world."""

import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward", "done"))


class GridWorld:
    """A square grid; the agent starts in one corner and looks for the opposite one."""

    moves = ((0, 1), (0, -1), (1, 0), (-1, 0))

    def __init__(self, size=4, limit=30):
        self.size, self.limit = size, limit

    def reset(self):
        self.at, self.time = [0, 0], 0
        return self.observation()

    def observation(self):
        return np.array(self.at, dtype=np.float32) / (self.size - 1)

    def step(self, action):
        for axis, change in enumerate(self.moves[action]):
            self.at[axis] = int(np.clip(self.at[axis] + change, 0, self.size - 1))
        self.time += 1
        found = self.at == [self.size - 1, self.size - 1]
        return self.observation(), 1.0 if found else -0.02, found or self.time >= self.limit


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations, n_actions):
        super().__init__()
        self.layer1 = nn.Linear(n_observations, 64)
        self.layer2 = nn.Linear(64, 64)
        self.layer3 = nn.Linear(64, n_actions)

    def forward(self, x):
        x = torch.relu(self.layer1(x))
        return self.layer3(torch.relu(self.layer2(x)))


class Learner:
    def __init__(self, n_actions=4, gamma=0.95, tau=0.05, lr=2e-3):
        self.policy_net = DQN(2, n_actions)
        self.target_net = DQN(2, n_actions)
        self.target_net.load_state_dict(self.policy_net.state_dict())
        self.optimizer = optim.AdamW(self.policy_net.parameters(), lr=lr, amsgrad=True)
        self.memory = ReplayMemory(2000)
        self.n_actions, self.gamma, self.tau = n_actions, gamma, tau
        self.epsilon = 1.0

    def select_action(self, state):
        self.epsilon = max(0.05, self.epsilon * 0.995)
        if random.random() < self.epsilon:
            return random.randrange(self.n_actions)
        with torch.no_grad():
            return self.policy_net(torch.from_numpy(state).unsqueeze(0)).argmax(1).item()

    def optimize_model(self, batch_size=32):
        if len(self.memory) < batch_size:
            return None
        batch = Transition(*zip(*self.memory.sample(batch_size)))
        states = torch.from_numpy(np.stack(batch.state))
        next_states = torch.from_numpy(np.stack(batch.next_state))
        actions = torch.tensor(batch.action).unsqueeze(1)
        rewards = torch.tensor(batch.reward, dtype=torch.float32)
        alive = 1.0 - torch.tensor(batch.done, dtype=torch.float32)

        state_action_values = self.policy_net(states).gather(1, actions).squeeze(1)
        with torch.no_grad():
            next_values = self.target_net(next_states).max(1).values
        expected = rewards + self.gamma * alive * next_values

        loss = nn.functional.smooth_l1_loss(state_action_values, expected)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(self.policy_net.parameters(), 100)
        self.optimizer.step()
        return loss.item()

    def soft_update(self):
        target = self.target_net.state_dict()
        policy = self.policy_net.state_dict()
        for key in policy:
            target[key] = policy[key] * self.tau + target[key] * (1 - self.tau)
        self.target_net.load_state_dict(target)


def main(episodes=25):
    random.seed(10)
    torch.manual_seed(10)
    env, learner = GridWorld(), Learner()
    for episode in range(episodes):
        state, done, total = env.reset(), False, 0.0
        while not done:
            action = learner.select_action(state)
            next_state, reward, done = env.step(action)
            learner.memory.push(state, action, next_state, reward, float(done))
            state = next_state
            total += reward
            learner.optimize_model()
            learner.soft_update()
        if episode % 5 == 0:
            print(f"episode {episode}: return {total:.2f}, epsilon {learner.epsilon:.2f}")
    corner = torch.zeros(2)
    print("values in the first corner:", learner.policy_net(corner).detach().numpy().round(2))


if __name__ == "__main__":
    main()
