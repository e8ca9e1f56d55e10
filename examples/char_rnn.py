"""A character-level GRU that reads a text in windows and carries its state from one to the next.

The text is made up here. After training the model writes a few characters.
"""

import torch
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog and the dog sleeps on. " * 12


class Corpus:
    def __init__(self, text, batch_size=4):
        self.chars = sorted(set(text))
        self.index = {c: i for i, c in enumerate(self.chars)}
        ids = torch.tensor([self.index[c] for c in text])
        nbatch = ids.size(0) // batch_size
        self.data = ids.narrow(0, 0, nbatch * batch_size).view(batch_size, -1).t().contiguous()

    def windows(self, bptt):
        for i in range(0, self.data.size(0) - 1, bptt):
            seq_len = min(bptt, self.data.size(0) - 1 - i)
            yield self.data[i : i + seq_len], self.data[i + 1 : i + 1 + seq_len].reshape(-1)


class CharRNN(nn.Module):
    def __init__(self, ntoken, ninp=24, nhid=48, dropout=0.1):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.GRU(ninp, nhid)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid = nhid
        self.init_weights()

    def init_weights(self):
        initrange = 0.1
        nn.init.uniform_(self.encoder.weight, -initrange, initrange)
        nn.init.zeros_(self.decoder.bias)
        nn.init.uniform_(self.decoder.weight, -initrange, initrange)

    def forward(self, tokens, hidden):
        emb = self.drop(self.encoder(tokens))
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(self.drop(output))
        return decoded.view(-1, decoded.size(-1)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return weight.new_zeros(1, bsz, self.nhid)


def train_epoch(model, corpus, criterion, optimizer, bptt=20, clip=0.25):
    model.train()
    total_loss, count = 0.0, 0
    hidden = model.init_hidden(corpus.data.size(1))
    for data, targets in corpus.windows(bptt):
        optimizer.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        total_loss += loss.item()
        count += 1
    return total_loss / count


@torch.no_grad()
def write(model, corpus, start="t", length=40, temperature=0.8):
    model.eval()
    hidden = model.init_hidden(1)
    token = torch.tensor([[corpus.index[start]]])
    out = [start]
    for _ in range(length):
        logits, hidden = model(token, hidden)
        weights = torch.softmax(logits.squeeze() / temperature, dim=-1)
        token = torch.multinomial(weights, 1).view(1, 1)
        out.append(corpus.chars[token.item()])
    return "".join(out)


def main():
    torch.manual_seed(6)
    corpus = Corpus(TEXT)
    model = CharRNN(len(corpus.chars))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        print(f"epoch {epoch}: loss {train_epoch(model, corpus, criterion, optimizer):.3f}")
    print(write(model, corpus))


if __name__ == "__main__":
    main()
