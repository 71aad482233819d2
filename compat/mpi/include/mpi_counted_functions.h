/* Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
 *
 * The functions of MPI with counts, which have two forms: TUTTI_MPI_COUNTED(name, (parameters)).
 * TUTTI_N is the type of a count, int or MPI_Count; TUTTI_D that of a displacement in elements, int
 * or MPI_Aint; TUTTI_A that of an address or extent, MPI_Aint or MPI_Count. Included twice. */
/* clang-format off */
TUTTI_MPI_COUNTED(MPI_Accumulate, (const void*, TUTTI_N, MPI_Datatype, int, MPI_Aint, TUTTI_N,
    MPI_Datatype, MPI_Op, MPI_Win))
TUTTI_MPI_COUNTED(MPI_Allgather, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N, MPI_Datatype,
    MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Allgather_init, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Allgatherv, (const void*, TUTTI_N, MPI_Datatype, void*, const TUTTI_N[], const
    TUTTI_D[], MPI_Datatype, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Allgatherv_init, (const void*, TUTTI_N, MPI_Datatype, void*, const TUTTI_N[],
    const TUTTI_D[], MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Allreduce, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Allreduce_init, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Alltoall, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N, MPI_Datatype,
    MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Alltoall_init, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Alltoallv, (const void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype,
    void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Alltoallv_init, (const void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype,
    void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Alltoallw, (const void*, const TUTTI_N[], const TUTTI_D[], const
    MPI_Datatype[], void*, const TUTTI_N[], const TUTTI_D[], const MPI_Datatype[], MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Alltoallw_init, (const void*, const TUTTI_N[], const TUTTI_D[], const
    MPI_Datatype[], void*, const TUTTI_N[], const TUTTI_D[], const MPI_Datatype[], MPI_Comm,
    MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Bcast, (void*, TUTTI_N, MPI_Datatype, int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Bcast_init, (void*, TUTTI_N, MPI_Datatype, int, MPI_Comm, MPI_Info,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Bsend, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Bsend_init, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Buffer_attach, (void*, TUTTI_N))
TUTTI_MPI_COUNTED(MPI_Buffer_detach, (void*, TUTTI_N*))
TUTTI_MPI_COUNTED(MPI_Comm_attach_buffer, (MPI_Comm, void*, TUTTI_N))
TUTTI_MPI_COUNTED(MPI_Comm_detach_buffer, (MPI_Comm, void*, TUTTI_N*))
TUTTI_MPI_COUNTED(MPI_Exscan, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Exscan_init, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_get_type_extent, (MPI_File, MPI_Datatype, TUTTI_A*))
TUTTI_MPI_COUNTED(MPI_File_iread, (MPI_File, void*, TUTTI_N, MPI_Datatype, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_iread_all, (MPI_File, void*, TUTTI_N, MPI_Datatype, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_iread_at, (MPI_File, MPI_Offset, void*, TUTTI_N, MPI_Datatype,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_iread_at_all, (MPI_File, MPI_Offset, void*, TUTTI_N, MPI_Datatype,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_iread_shared, (MPI_File, void*, TUTTI_N, MPI_Datatype, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_iwrite, (MPI_File, const void*, TUTTI_N, MPI_Datatype, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_iwrite_all, (MPI_File, const void*, TUTTI_N, MPI_Datatype, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_iwrite_at, (MPI_File, MPI_Offset, const void*, TUTTI_N, MPI_Datatype,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_iwrite_at_all, (MPI_File, MPI_Offset, const void*, TUTTI_N, MPI_Datatype,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_iwrite_shared, (MPI_File, const void*, TUTTI_N, MPI_Datatype,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_File_read, (MPI_File, void*, TUTTI_N, MPI_Datatype, MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_read_all, (MPI_File, void*, TUTTI_N, MPI_Datatype, MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_read_all_begin, (MPI_File, void*, TUTTI_N, MPI_Datatype))
TUTTI_MPI_COUNTED(MPI_File_read_at, (MPI_File, MPI_Offset, void*, TUTTI_N, MPI_Datatype,
    MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_read_at_all, (MPI_File, MPI_Offset, void*, TUTTI_N, MPI_Datatype,
    MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_read_at_all_begin, (MPI_File, MPI_Offset, void*, TUTTI_N, MPI_Datatype))
TUTTI_MPI_COUNTED(MPI_File_read_ordered, (MPI_File, void*, TUTTI_N, MPI_Datatype, MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_read_ordered_begin, (MPI_File, void*, TUTTI_N, MPI_Datatype))
TUTTI_MPI_COUNTED(MPI_File_read_shared, (MPI_File, void*, TUTTI_N, MPI_Datatype, MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_write, (MPI_File, const void*, TUTTI_N, MPI_Datatype, MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_write_all, (MPI_File, const void*, TUTTI_N, MPI_Datatype, MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_write_all_begin, (MPI_File, const void*, TUTTI_N, MPI_Datatype))
TUTTI_MPI_COUNTED(MPI_File_write_at, (MPI_File, MPI_Offset, const void*, TUTTI_N, MPI_Datatype,
    MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_write_at_all, (MPI_File, MPI_Offset, const void*, TUTTI_N, MPI_Datatype,
    MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_write_at_all_begin, (MPI_File, MPI_Offset, const void*, TUTTI_N,
    MPI_Datatype))
TUTTI_MPI_COUNTED(MPI_File_write_ordered, (MPI_File, const void*, TUTTI_N, MPI_Datatype,
    MPI_Status*))
TUTTI_MPI_COUNTED(MPI_File_write_ordered_begin, (MPI_File, const void*, TUTTI_N, MPI_Datatype))
TUTTI_MPI_COUNTED(MPI_File_write_shared, (MPI_File, const void*, TUTTI_N, MPI_Datatype,
    MPI_Status*))
TUTTI_MPI_COUNTED(MPI_Gather, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N, MPI_Datatype,
    int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Gather_init, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Gatherv, (const void*, TUTTI_N, MPI_Datatype, void*, const TUTTI_N[], const
    TUTTI_D[], MPI_Datatype, int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Gatherv_init, (const void*, TUTTI_N, MPI_Datatype, void*, const TUTTI_N[],
    const TUTTI_D[], MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Get, (void*, TUTTI_N, MPI_Datatype, int, MPI_Aint, TUTTI_N, MPI_Datatype,
    MPI_Win))
TUTTI_MPI_COUNTED(MPI_Get_accumulate, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, int, MPI_Aint, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Win))
TUTTI_MPI_COUNTED(MPI_Get_count, (const MPI_Status*, MPI_Datatype, TUTTI_N*))
TUTTI_MPI_COUNTED(MPI_Get_elements, (const MPI_Status*, MPI_Datatype, TUTTI_N*))
TUTTI_MPI_COUNTED(MPI_Iallgather, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N, MPI_Datatype,
    MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Iallgatherv, (const void*, TUTTI_N, MPI_Datatype, void*, const TUTTI_N[],
    const TUTTI_D[], MPI_Datatype, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Iallreduce, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ialltoall, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N, MPI_Datatype,
    MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ialltoallv, (const void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype,
    void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ialltoallw, (const void*, const TUTTI_N[], const TUTTI_D[], const
    MPI_Datatype[], void*, const TUTTI_N[], const TUTTI_D[], const MPI_Datatype[], MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ibcast, (void*, TUTTI_N, MPI_Datatype, int, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ibsend, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Iexscan, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Igather, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N, MPI_Datatype,
    int, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Igatherv, (const void*, TUTTI_N, MPI_Datatype, void*, const TUTTI_N[], const
    TUTTI_D[], MPI_Datatype, int, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Imrecv, (void*, TUTTI_N, MPI_Datatype, MPI_Message*, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ineighbor_allgather, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ineighbor_allgatherv, (const void*, TUTTI_N, MPI_Datatype, void*, const
    TUTTI_N[], const TUTTI_D[], MPI_Datatype, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ineighbor_alltoall, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ineighbor_alltoallv, (const void*, const TUTTI_N[], const TUTTI_D[],
    MPI_Datatype, void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ineighbor_alltoallw, (const void*, const TUTTI_N[], const MPI_Aint[], const
    MPI_Datatype[], void*, const TUTTI_N[], const MPI_Aint[], const MPI_Datatype[], MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Irecv, (void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ireduce, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, int, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ireduce_scatter, (const void*, void*, const TUTTI_N[], MPI_Datatype, MPI_Op,
    MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Ireduce_scatter_block, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op,
    MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Irsend, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Iscan, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Iscatter, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N, MPI_Datatype,
    int, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Iscatterv, (const void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype,
    void*, TUTTI_N, MPI_Datatype, int, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Isend, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Isendrecv, (const void*, TUTTI_N, MPI_Datatype, int, int, void*, TUTTI_N,
    MPI_Datatype, int, int, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Isendrecv_replace, (void*, TUTTI_N, MPI_Datatype, int, int, int, int,
    MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Issend, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Mrecv, (void*, TUTTI_N, MPI_Datatype, MPI_Message*, MPI_Status*))
TUTTI_MPI_COUNTED(MPI_Neighbor_allgather, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Neighbor_allgather_init, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Neighbor_allgatherv, (const void*, TUTTI_N, MPI_Datatype, void*, const
    TUTTI_N[], const TUTTI_D[], MPI_Datatype, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Neighbor_allgatherv_init, (const void*, TUTTI_N, MPI_Datatype, void*, const
    TUTTI_N[], const TUTTI_D[], MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Neighbor_alltoall, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Neighbor_alltoall_init, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Neighbor_alltoallv, (const void*, const TUTTI_N[], const TUTTI_D[],
    MPI_Datatype, void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Neighbor_alltoallv_init, (const void*, const TUTTI_N[], const TUTTI_D[],
    MPI_Datatype, void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype, MPI_Comm, MPI_Info,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Neighbor_alltoallw, (const void*, const TUTTI_N[], const MPI_Aint[], const
    MPI_Datatype[], void*, const TUTTI_N[], const MPI_Aint[], const MPI_Datatype[], MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Neighbor_alltoallw_init, (const void*, const TUTTI_N[], const MPI_Aint[],
    const MPI_Datatype[], void*, const TUTTI_N[], const MPI_Aint[], const MPI_Datatype[], MPI_Comm,
    MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Pack, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N, TUTTI_N*,
    MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Pack_external, (const char*, const void*, TUTTI_N, MPI_Datatype, void*,
    TUTTI_A, TUTTI_A*))
TUTTI_MPI_COUNTED(MPI_Pack_external_size, (const char*, TUTTI_N, MPI_Datatype, TUTTI_A*))
TUTTI_MPI_COUNTED(MPI_Pack_size, (TUTTI_N, MPI_Datatype, MPI_Comm, TUTTI_N*))
TUTTI_MPI_COUNTED(MPI_Put, (const void*, TUTTI_N, MPI_Datatype, int, MPI_Aint, TUTTI_N,
    MPI_Datatype, MPI_Win))
TUTTI_MPI_COUNTED(MPI_Raccumulate, (const void*, TUTTI_N, MPI_Datatype, int, MPI_Aint, TUTTI_N,
    MPI_Datatype, MPI_Op, MPI_Win, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Recv, (void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm, MPI_Status*))
TUTTI_MPI_COUNTED(MPI_Recv_init, (void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Reduce, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Reduce_init, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, int,
    MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Reduce_local, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op))
TUTTI_MPI_COUNTED(MPI_Reduce_scatter, (const void*, void*, const TUTTI_N[], MPI_Datatype, MPI_Op,
    MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Reduce_scatter_block, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op,
    MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Reduce_scatter_block_init, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op,
    MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Reduce_scatter_init, (const void*, void*, const TUTTI_N[], MPI_Datatype,
    MPI_Op, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Rget, (void*, TUTTI_N, MPI_Datatype, int, MPI_Aint, TUTTI_N, MPI_Datatype,
    MPI_Win, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Rget_accumulate, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, int, MPI_Aint, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Win, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Rput, (const void*, TUTTI_N, MPI_Datatype, int, MPI_Aint, TUTTI_N,
    MPI_Datatype, MPI_Win, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Rsend, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Rsend_init, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Scan, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Scan_init, (const void*, void*, TUTTI_N, MPI_Datatype, MPI_Op, MPI_Comm,
    MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Scatter, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N, MPI_Datatype,
    int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Scatter_init, (const void*, TUTTI_N, MPI_Datatype, void*, TUTTI_N,
    MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Scatterv, (const void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype, void*,
    TUTTI_N, MPI_Datatype, int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Scatterv_init, (const void*, const TUTTI_N[], const TUTTI_D[], MPI_Datatype,
    void*, TUTTI_N, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Send, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Send_init, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Sendrecv, (const void*, TUTTI_N, MPI_Datatype, int, int, void*, TUTTI_N,
    MPI_Datatype, int, int, MPI_Comm, MPI_Status*))
TUTTI_MPI_COUNTED(MPI_Sendrecv_replace, (void*, TUTTI_N, MPI_Datatype, int, int, int, int, MPI_Comm,
    MPI_Status*))
TUTTI_MPI_COUNTED(MPI_Session_attach_buffer, (MPI_Session, void*, TUTTI_N))
TUTTI_MPI_COUNTED(MPI_Session_detach_buffer, (MPI_Session, void*, TUTTI_N*))
TUTTI_MPI_COUNTED(MPI_Ssend, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Ssend_init, (const void*, TUTTI_N, MPI_Datatype, int, int, MPI_Comm,
    MPI_Request*))
TUTTI_MPI_COUNTED(MPI_Status_set_elements, (MPI_Status*, MPI_Datatype, TUTTI_N))
TUTTI_MPI_COUNTED(MPI_Type_contiguous, (TUTTI_N, MPI_Datatype, MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_create_darray, (int, int, int, const TUTTI_N[], const int[], const int[],
    const int[], int, MPI_Datatype, MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_create_hindexed, (TUTTI_N, const TUTTI_N[], const TUTTI_A[],
    MPI_Datatype, MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_create_hindexed_block, (TUTTI_N, TUTTI_N, const TUTTI_A[], MPI_Datatype,
    MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_create_hvector, (TUTTI_N, TUTTI_N, TUTTI_A, MPI_Datatype, MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_create_indexed_block, (TUTTI_N, TUTTI_N, const TUTTI_N[], MPI_Datatype,
    MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_create_resized, (MPI_Datatype, TUTTI_A, TUTTI_A, MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_create_struct, (TUTTI_N, const TUTTI_N[], const TUTTI_A[], const
    MPI_Datatype[], MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_create_subarray, (int, const TUTTI_N[], const TUTTI_N[], const TUTTI_N[],
    int, MPI_Datatype, MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_get_extent, (MPI_Datatype, TUTTI_A*, TUTTI_A*))
TUTTI_MPI_COUNTED(MPI_Type_get_true_extent, (MPI_Datatype, TUTTI_A*, TUTTI_A*))
TUTTI_MPI_COUNTED(MPI_Type_indexed, (TUTTI_N, const TUTTI_N[], const TUTTI_N[], MPI_Datatype,
    MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Type_size, (MPI_Datatype, TUTTI_N*))
TUTTI_MPI_COUNTED(MPI_Type_vector, (TUTTI_N, TUTTI_N, TUTTI_N, MPI_Datatype, MPI_Datatype*))
TUTTI_MPI_COUNTED(MPI_Unpack, (const void*, TUTTI_N, TUTTI_N*, void*, TUTTI_N, MPI_Datatype,
    MPI_Comm))
TUTTI_MPI_COUNTED(MPI_Unpack_external, (const char[], const void*, TUTTI_A, TUTTI_A*, void*,
    TUTTI_N, MPI_Datatype))
