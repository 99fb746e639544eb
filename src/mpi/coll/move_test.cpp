// Collectives that move data: broadcast, gather, scatter, allgather, alltoall with their variants.
#include "mpi/coll/coll_test_support.hpp"

namespace tmpi::mpi::test {
namespace {

using Ints = std::vector<int>;

// Every second int: elements of one int with a gap behind.
MPI_Datatype sparse_type() {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
  MPI_Type_commit(&type);
  return type;
}
Ints sparse(const Ints& dense) {
  Ints data(2 * dense.size(), -1);
  for (std::size_t i = 0; i < dense.size(); ++i) data[2 * i] = dense[i];
  return data;
}

TEST_CASE("broadcast from every root, with different layouts") {
  on_many([](int rank, int size) {
    MPI_Datatype gaps = sparse_type();
    for (const int count : kCounts) {
      for (int root = 0; root < size; root += size < 8 ? 1 : 7) {
        const Ints sent = contribution(root, count);
        Ints data = rank == root ? sent : Ints(static_cast<std::size_t>(count), -1);
        MPI_Bcast(data.data(), count, MPI_INT, root, MPI_COMM_WORLD);
        EXPECT(data == sent);
        data = sparse(rank == root ? sent : Ints(static_cast<std::size_t>(count), -2));
        MPI_Bcast(data.data(), count, gaps, root, MPI_COMM_WORLD);
        EXPECT(data == sparse(sent));
      }
    }
    MPI_Type_free(&gaps);
  });
}

TEST_CASE("a root runs ahead of the others") {
  on_many([](int rank, int size) {
    for (int i = 0; i < 200; ++i) {
      int x = rank == i % 3 % size ? i : -1;
      MPI_Bcast(&x, 1, MPI_INT, i % 3 % size, MPI_COMM_WORLD);
      EXPECT(x == i);
      if (i % 50 == 49) MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 200; ++i) {
      int sum = 0;
      MPI_Reduce(&i, &sum, 1, MPI_INT, MPI_SUM, i % size, MPI_COMM_WORLD);
      EXPECT((rank != i % size || sum == i * size));
    }
  });
}

void gather_and_scatter(int rank, int size, int count, int root, MPI_Datatype gaps) {
  Ints all, received(length_of(size * count), -1);
  for (int r = 0; r < size; ++r) {
    const Ints part = contribution(r, count);
    all.insert(all.end(), part.begin(), part.end());
  }
  const Ints mine = contribution(rank, count);
  MPI_Gather(mine.data(), count, MPI_INT, received.data(), count, MPI_INT, root, MPI_COMM_WORLD);
  EXPECT((rank != root || received == all));

  Ints wide = sparse(Ints(length_of(size * count), -1));
  if (rank == root) {
    const Ints own = sparse(mine);
    std::copy(own.begin(), own.end(), wide.begin() + 2 * rank * count);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, wide.data(), count, gaps, root, MPI_COMM_WORLD);
    EXPECT(wide == sparse(all));
  } else {
    MPI_Gather(mine.data(), count, MPI_INT, nullptr, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
  }

  Ints part(static_cast<std::size_t>(count), -1);
  MPI_Scatter(wide.data(), count, gaps, part.data(), count, MPI_INT, root, MPI_COMM_WORLD);
  EXPECT(part == mine);
  if (rank == root) {
    MPI_Scatter(all.data(), count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
  } else {
    MPI_Scatter(nullptr, 0, MPI_DATATYPE_NULL, part.data(), count, MPI_INT, root, MPI_COMM_WORLD);
  }
  EXPECT(part == mine);
}

TEST_CASE("gather and scatter") {
  on_many([](int rank, int size) {
    MPI_Datatype gaps = sparse_type();
    for (const int count : kCounts) {
      if (size > 16 && count > 300) continue;
      for (int root = 0; root < size; root += size < 8 ? 1 : 11)
        gather_and_scatter(rank, size, count, root, gaps);
    }
    MPI_Type_free(&gaps);
  });
}

// Chunks of different lengths, in reverse order, with a gap between them.
struct Chunks {
  Ints counts, displs;
  int total = 0;
  Chunks(int size, int unit) {
    counts.resize(static_cast<std::size_t>(size));
    displs.resize(static_cast<std::size_t>(size));
    for (int r = size - 1; r >= 0; --r) {
      counts[static_cast<std::size_t>(r)] = r % 4 * unit;
      displs[static_cast<std::size_t>(r)] = total;
      total += r % 4 * unit + 1;
    }
  }
};

TEST_CASE("gatherv, scatterv, allgatherv") {
  on_many([](int rank, int size) {
    for (const int unit : {1, 5, 700}) {
      const Chunks chunks(size, unit);
      Ints all(static_cast<std::size_t>(chunks.total), -1);
      for (int r = 0; r < size; ++r) {
        const Ints part = contribution(r, chunks.counts[static_cast<std::size_t>(r)]);
        std::copy(part.begin(), part.end(), all.begin() + chunks.displs[static_cast<std::size_t>(r)]);
      }
      const int root = size / 2, count = chunks.counts[static_cast<std::size_t>(rank)];
      const Ints mine = contribution(rank, count);
      Ints received(all.size(), -1), part(static_cast<std::size_t>(count), -1);
      MPI_Gatherv(mine.data(), count, MPI_INT, received.data(), chunks.counts.data(), chunks.displs.data(),
                  MPI_INT, root, MPI_COMM_WORLD);
      EXPECT((rank != root || received == all));
      MPI_Scatterv(all.data(), chunks.counts.data(), chunks.displs.data(), MPI_INT, part.data(), count,
                   MPI_INT, root, MPI_COMM_WORLD);
      EXPECT(part == mine);
      received.assign(all.size(), -1);
      MPI_Allgatherv(mine.data(), count, MPI_INT, received.data(), chunks.counts.data(), chunks.displs.data(),
                     MPI_INT, MPI_COMM_WORLD);
      EXPECT(received == all);
      received.assign(all.size(), -1);
      std::copy(mine.begin(), mine.end(), received.begin() + chunks.displs[static_cast<std::size_t>(rank)]);
      MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received.data(), chunks.counts.data(),
                     chunks.displs.data(), MPI_INT, MPI_COMM_WORLD);
      EXPECT(received == all);
    }
  });
}

// What rank `from` sends to rank `to`.
Ints message(int from, int to, int count) {
  return contribution(from * 131 + to, count);
}

Ints sent_by(int rank, int size, int count) {
  Ints data;
  for (int to = 0; to < size; ++to) {
    const Ints part = message(rank, to, count);
    data.insert(data.end(), part.begin(), part.end());
  }
  return data;
}
Ints received_by(int rank, int size, int count) {
  Ints data;
  for (int from = 0; from < size; ++from) {
    const Ints part = message(from, rank, count);
    data.insert(data.end(), part.begin(), part.end());
  }
  return data;
}

TEST_CASE("allgather and alltoall") {
  on_many([](int rank, int size) {
    MPI_Datatype gaps = sparse_type();
    for (const int count : kCounts) {
      if (size * count > 20000) continue;
      const auto n = length_of(size * count);
      const Ints mine = contribution(rank, count), sent = sent_by(rank, size, count),
                 right = received_by(rank, size, count);
      Ints all, received(n, -1);
      for (int r = 0; r < size; ++r) {
        const Ints part = contribution(r, count);
        all.insert(all.end(), part.begin(), part.end());
      }
      MPI_Allgather(mine.data(), count, MPI_INT, received.data(), count, MPI_INT, MPI_COMM_WORLD);
      EXPECT(received == all);
      received.assign(n, -1);
      std::copy(mine.begin(), mine.end(), received.begin() + rank * count);
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received.data(), count, MPI_INT, MPI_COMM_WORLD);
      EXPECT(received == all);
      Ints wide = sparse(Ints(n, -1));
      MPI_Allgather(mine.data(), count, MPI_INT, wide.data(), count, gaps, MPI_COMM_WORLD);
      EXPECT(wide == sparse(all));

      received.assign(n, -1);
      MPI_Alltoall(sent.data(), count, MPI_INT, received.data(), count, MPI_INT, MPI_COMM_WORLD);
      EXPECT(received == right);
      received = sent;
      MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, received.data(), count, MPI_INT, MPI_COMM_WORLD);
      EXPECT(received == right);
      wide = sparse(sent);
      MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, wide.data(), count, gaps, MPI_COMM_WORLD);
      EXPECT(wide == sparse(right));
    }
    MPI_Type_free(&gaps);
  });
}

TEST_CASE("alltoallv and alltoallw") {
  on_many([](int rank, int size) {
    MPI_Datatype gaps = sparse_type();
    // Rank a sends (a + b) % 3 ints to rank b: symmetric, so that it can be done in place too.
    Ints counts, displs, bytes, wide_bytes;
    Ints sent, right;
    for (int r = 0; r < size; ++r) {
      counts.push_back((rank + r) % 3);
      displs.push_back(static_cast<int>(sent.size()));
      bytes.push_back(displs.back() * static_cast<int>(sizeof(int)));
      wide_bytes.push_back(2 * bytes.back());
      for (int x : message(rank, r, counts.back())) sent.push_back(x);
      for (int x : message(r, rank, counts.back())) right.push_back(x);
    }
    Ints received(right.size(), -1);
    MPI_Alltoallv(sent.data(), counts.data(), displs.data(), MPI_INT, received.data(), counts.data(),
                  displs.data(), MPI_INT, MPI_COMM_WORLD);
    EXPECT(received == right);
    received = sent;
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, received.data(), counts.data(),
                  displs.data(), MPI_INT, MPI_COMM_WORLD);
    EXPECT(received == right);
    const std::vector<MPI_Datatype> dense_types(static_cast<std::size_t>(size), MPI_INT);
    const std::vector<MPI_Datatype> wide_types(static_cast<std::size_t>(size), gaps);
    Ints wide = sparse(Ints(right.size(), -1));
    MPI_Alltoallw(sent.data(), counts.data(), bytes.data(), dense_types.data(), wide.data(), counts.data(),
                  wide_bytes.data(), wide_types.data(), MPI_COMM_WORLD);
    EXPECT(wide == sparse(right));
    wide = sparse(sent);
    MPI_Alltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, wide.data(), counts.data(), wide_bytes.data(),
                  wide_types.data(), MPI_COMM_WORLD);
    EXPECT(wide == sparse(right));
    MPI_Type_free(&gaps);
  });
}

}  // namespace
}  // namespace tmpi::mpi::test
