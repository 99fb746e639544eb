// The algorithms, one file each, where what they need stands beside them. Which one is used is said by
// table.cpp.
#pragma once

#include "mpi/coll/algorithm.hpp"

namespace tmpi::mpi::algorithm {

// In the shared memory of one node, in steps (steps.hpp).
extern const Algorithm kBarrierShared;          // barrier.cpp
extern const Algorithm kBcastRing;              // bcast.cpp
extern const Algorithm kScatterRing;            // scatter.cpp
extern const Algorithm kGatherRing;             // gather.cpp
extern const Algorithm kAllgatherCells;         // allgather_cells.cpp
extern const Algorithm kAllgatherPull;          // allgather.cpp
extern const Algorithm kAlltoallPull;           // alltoall.cpp
extern const Algorithm kAlltoallSwap;           // alltoall_swap.cpp
extern const Algorithm kReduceCells;            // reduce_cells.cpp
extern const Algorithm kReduceSegments;         // reduce_segments.cpp
extern const Algorithm kAllreduceCells;         // allreduce_cells.cpp
extern const Algorithm kAllreduceSegments;      // allreduce_segments.cpp
extern const Algorithm kReduceScatterCells;     // reduce_scatter_cells.cpp
extern const Algorithm kReduceScatterSegments;  // reduce_scatter.cpp
extern const Algorithm kScanCells;              // scan_cells.cpp
extern const Algorithm kExscanCells;            // scan_cells.cpp
extern const Algorithm kScanSegments;           // scan.cpp
extern const Algorithm kExscanSegments;         // exscan.cpp

// Of both, for members on several nodes: hierarchy/NAME.cpp.
extern const Algorithm kBarrierHierarchy;
extern const Algorithm kBcastHierarchy;
extern const Algorithm kGatherHierarchy;
extern const Algorithm kScatterHierarchy;
extern const Algorithm kAllgatherHierarchy;
extern const Algorithm kAlltoallHierarchy;
extern const Algorithm kReduceHierarchy;
extern const Algorithm kAllreduceHierarchy;
extern const Algorithm kAllreduceInterNode;
extern const Algorithm kReduceScatterHierarchy;
extern const Algorithm kScanHierarchy;
extern const Algorithm kExscanHierarchy;         // scan.cpp
extern const Algorithm kAllreduceRankOrder;      // rank_order.cpp
extern const Algorithm kReduceRankOrder;         // rank_order.cpp
extern const Algorithm kReduceScatterRankOrder;  // rank_order.cpp
extern const Algorithm kScanRankOrder;           // rank_order.cpp
extern const Algorithm kExscanRankOrder;         // rank_order.cpp

// Of messages: messages/NAME.cpp.
extern const Algorithm kBarrierDissemination;
extern const Algorithm kBcastBinomial;
extern const Algorithm kBcastScatterAllgather;
extern const Algorithm kGatherBinomial;
extern const Algorithm kGatherLinear;
extern const Algorithm kScatterBinomial;
extern const Algorithm kScatterLinear;
extern const Algorithm kAllgatherDoubling;
extern const Algorithm kAllgatherBruck;
extern const Algorithm kAllgatherRing;
extern const Algorithm kAlltoallBruck;
extern const Algorithm kAlltoallLinear;
extern const Algorithm kAlltoallPairwise;
extern const Algorithm kReduceBinomial;
extern const Algorithm kReduceLinear;
extern const Algorithm kAllreduceDoubling;
extern const Algorithm kAllreduceRabenseifner;
extern const Algorithm kAllreduceRing;
extern const Algorithm kReduceScatterBinomial;
extern const Algorithm kReduceScatterPairwise;
extern const Algorithm kScanDoubling;
extern const Algorithm kScanLinear;
extern const Algorithm kExscanDoubling;           // scan_doubling.cpp
extern const Algorithm kExscanLinear;             // scan_linear.cpp
extern const Algorithm kNeighborAllgatherDirect;  // neighbor_direct.cpp
extern const Algorithm kNeighborAlltoallDirect;   // neighbor_direct.cpp

}  // namespace tmpi::mpi::algorithm
