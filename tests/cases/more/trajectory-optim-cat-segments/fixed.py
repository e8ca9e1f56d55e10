import torch


class Spline:
    def __init__(self, start, goal, inner):
        self.start, self.goal = torch.tensor(start), torch.tensor(goal)
        t = torch.linspace(0, 1, inner + 2)[1:-1, None]
        self.inner = (self.start + t * (self.goal - self.start)).requires_grad_()

    @property
    def points(self):
        return torch.cat([self.start[None], self.inner, self.goal[None]])

    def length(self):
        return (self.points[1:] - self.points[:-1]).norm(dim=1).sum()


def cost(spline, obstacle, radius=0.5):
    gap = (spline.points - obstacle).norm(dim=1)
    return spline.length() + 5 * torch.relu(radius - gap).pow(2).sum()


torch.manual_seed(0)
spline = Spline([0.0, 0.0], [2.0, 0.0], inner=7)
opt = torch.optim.Adam(params=[spline.inner], lr=0.05)
obstacle = torch.tensor([1.0, 0.05])
for _ in range(20):
    opt.zero_grad()
    value = cost(spline, obstacle)
    value.backward()
    opt.step()
print(value.item())
