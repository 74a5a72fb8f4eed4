//! Words for places, as data: which kind of work a function of a name does, or begins; and which
//! one the functions of a source file do.
//!
//! Source: the call trees of the paths on Linux 5.10 to 7.3; the names are those of kallsyms. The
//! files are those of these releases' source.

use pathmeter_model::Area;

/// What names begin with, of each kind of work.
pub(crate) type Table = &'static [(Area, &'static str)];

/// The kernel's entry points: what is below one is of its kind, unless another one is nearer.
pub(crate) const ENTRIES: Table = &[
    (
        Area::Allocator,
        "__alloc_frozen_pages __alloc_pages __kmalloc __kmem_cache alloc_pages free_pages \
         free_unref kfree kmem_cache_ pcpu_alloc",
    ),
    (
        Area::Entry,
        "arch_exit_to_user_mode do_fast_syscall_32 do_int80 do_syscall_64 entry_INT80 \
         entry_SYSCALL_64 exit_to_user_mode irqentry_ syscall_enter_from_user_mode \
         syscall_exit_ x64_sys_call",
    ),
    (
        Area::Files,
        "__do_sys_new __fput __x64_sys_close __x64_sys_ioctl __x64_sys_open __x64_sys_read \
         __x64_sys_write do_filp_open vfs_",
    ),
    (Area::Futex, "__x64_sys_futex do_futex futex_"),
    (
        Area::Interrupts,
        "__common_interrupt asm_common_interrupt asm_sysvec_ common_interrupt do_softirq \
         handle_softirqs hrtimer_interrupt sysvec_ tick_ timer_interrupt update_process_times",
    ),
    (Area::Ipc, "__x64_sys_mq_ __x64_sys_msg __x64_sys_sem __x64_sys_shm"),
    (Area::Other, "__x64_sys_"),
    (
        Area::PageTables,
        "__do_fault __handle_mm_fault __x64_sys_brk __x64_sys_mmap __x64_sys_mprotect \
         __x64_sys_munmap asm_exc_page_fault copy_page_range do_user_addr_fault dup_mm \
         exc_page_fault exit_mm handle_mm_fault mmput unmap_",
    ),
    (Area::Pipes, "anon_pipe_ pipe_"),
    (
        Area::Processes,
        "__set_task_ __x64_sys_clone __x64_sys_execve __x64_sys_exit __x64_sys_fork \
         __x64_sys_vfork __x64_sys_wait copy_process do_exit do_wait kernel_clone ksys_ioperm \
         release_task",
    ),
    (
        Area::Scheduler,
        "__schedule __switch_to __x64_sys_sched_yield native_tss_update_io_bitmap sched_tick \
         schedule scheduler_tick switch_fpu switch_mm try_to_wake_up",
    ),
    (Area::Security, "apparmor_ landlock_ lockdown_ security_"),
    (
        Area::Signals,
        "__x64_sys_kill __x64_sys_rt_sig __x64_sys_tgkill arch_do_signal_or_restart \
         complete_signal do_send_sig_info get_signal send_signal signal_setup_done",
    ),
    (Area::Sockets, "__x64_sys_recv __x64_sys_send inet_ ip_ sock_ tcp_ unix_"),
    (Area::User, "[user]"),
];

/// Functions that do one kind of work wherever they are called from. Their leading underscores are
/// left out.
pub(crate) const OWN: Table = &[
    (
        Area::Allocator,
        "alloc_frozen_pages alloc_pages charge_memcg clear_highpages clear_page \
         cond_accept_memory count_memcg_events folio_alloc free_frozen_pages free_pages \
         free_percpu free_unref get_obj_cgroup get_page_from_freelist kernel_init_free_pages \
         kernel_init_pages kfree kmalloc kmem_cache_ kvfree kvmalloc lruvec_stat mem_cgroup_ \
         memcg_ mod_lruvec mod_memcg_ mod_node_page_state mod_zone_page_state obj_cgroup_ \
         pcpu_ post_alloc_hook prep_new_page refill_stock rmqueue slab_ try_charge vfree \
         vma_alloc_folio vmalloc",
    ),
    (
        Area::Entry,
        "arch_exit_to_user_mode do_fast_syscall_32 do_int80 do_syscall_64 \
         enter_from_user_mode error_entry exit_to_user_mode ia32_sys_call int80_emulation \
         irqentry_ rseq_ syscall_enter_from_user_mode syscall_exit_ x64_sys_call",
    ),
    (
        Area::Files,
        "alloc_fd atime_needs_update close_fd cp_new_stat current_time d_lookup do_file_open \
         do_filp_open do_sys_open dput fd_install fdget fget file_update_time fput fsnotify \
         generic_fillattr generic_permission get_unused_fd getname inode_ kernfs_ legitimize_ \
         link_path_walk lookup_fast mntget mntput new_sync_ path_lookup path_openat putname \
         rw_verify_area shmem_ step_into timestamp_truncate touch_atime try_to_unlazy vfs_ \
         walk_component",
    ),
    (Area::Futex, "do_futex exit_robust_list futex_ get_futex_key hash_futex wake_futex"),
    (
        Area::Interrupts,
        "common_interrupt ct_irq_ ct_nmi_ do_softirq enable_8259A_irq generic_handle_irq \
         handle_edge_irq handle_fasteoi_irq handle_irq handle_level_irq handle_softirqs \
         irq_enter irq_exit irq_work_ local_bh_ mask_8259A mask_and_ack_8259A raise_softirq \
         sysvec_ tasklet_ timer_interrupt unmask_8259A",
    ),
    (Area::Ipc, "do_mq_ do_msg do_sem do_shm ipc_ ipcget newseg"),
    (
        Area::Locking,
        "atomic_dec_and_lock atomic_dec_and_raw_lock down_read down_write local_lock \
         lock_acquire lock_release lockdep_ lockref_ mutex_ native_queued_spin_lock osq_ \
         percpu_down_ percpu_up_ pv_queued_spin queued_read_lock queued_spin_lock \
         queued_write_lock raw_read_ raw_spin_ raw_write_ refcount_ rt_mutex_ rt_read_ \
         rt_spin_ rt_write_ rtlock_ rtmutex_ rwbase_ rwsem_ up_read up_write ww_mutex_",
    ),
    (
        Area::PageTables,
        "access_error anon_rmap_ anon_vma_ copy_page_range copy_pte_range do_anonymous_page \
         do_fault do_user_addr_fault do_wp_page dup_mm exc_page_fault exit_mm \
         filemap_map_pages find_vma flush_tlb folio_add_ folio_batch folio_remove_rmap \
         free_pgd_range free_pgtables get_user_pages gup_ handle_mm_fault \
         internal_get_user_pages lock_mm_and_find_vma lock_vma_under_rcu lru_ map_anon_folio \
         mas_ mmap_ mmdrop mmput mt_find mtree_ next_uptodate_page p4d_ pfn_ pgd_ pmd_ pte_ \
         ptep_ pud_ remove_shared_vm_struct set_pte tlb_ try_get_folio try_grab_ \
         unlink_anon_vmas unlink_file_vma unmap_ userfaultfd_ vm_area_ vm_normal_page vma_ \
         vmacache_ wp_page_copy zap_",
    ),
    (Area::Pipes, "anon_pipe_ pipe_"),
    (
        Area::Processes,
        "account_kernel_stack alloc_pid attach_pid begin_new_exec bprm_ cgroup_can_fork \
         cgroup_exit cgroup_fork cgroup_post_fork copy_process copy_thread \
         delayed_put_task_struct detach_pid do_execve do_exit do_group_exit do_wait \
         dup_task_struct exec_binprm free_pid free_task kernel_clone ksys_ioperm load_elf_ \
         put_task_struct release_task task_pid_nr wait_task_zombie",
    ),
    (Area::Rcu, "call_rcu call_srcu invoke_rcu_core kfree_rcu kvfree_call_rcu rcu_ srcu_"),
    (
        Area::Scheduler,
        "activate_task avg_vruntime balance_ choose_new_asid cond_resched cpuacct_ cpupri_ \
         deactivate_task default_wake_function dequeue_entity dequeue_pushable_task \
         dequeue_rt dequeue_task dequeue_top_rt dl_server_ enqueue_entity \
         enqueue_pushable_task enqueue_rt enqueue_task enqueue_top_rt finish_task_switch \
         finish_wait migrate_ mm_cid_ native_sched_clock pick_next_task pick_task \
         place_entity preempt_ prepare_to_wait psi_ put_prev_task raw_spin_rq_ resched_ \
         reweight_ sched_ schedule scheduler_tick select_idle select_task_rq set_next_task \
         switch_fpu switch_ldt switch_mm switch_to task_rq_lock task_tick_ try_to_wake_up \
         ttwu_ update_cfs_ update_curr update_deadline update_load_avg update_min_vruntime \
         update_rq_clock update_rt_rq update_se wake_up_ wakeup_preempt yield_task",
    ),
    (
        Area::Security,
        "aa_ apparmor_ audit_ begin_current_label bpf_lsm_ cap_ capable common_file_perm \
         common_perm from_kgid from_kuid hook_file_ioctl landlock_ lockdown_ make_kgid \
         make_kuid map_id_ ns_capable profile_signal_perm seccomp_ security_ selinux_ tomoyo_ \
         yama_",
    ),
    (
        Area::Signals,
        "arch_do_signal_or_restart collect_signal complete_signal copy_fpstate_to_sigframe \
         copy_siginfo dequeue_signal do_send_sig do_sigaction do_sigaltstack flush_sigqueue \
         fpu__restore_sig fpu_restore_sig get_sigframe get_signal kill_pid kill_something \
         lock_task_sighand prepare_signal recalc_sigpending restore_altstack restore_sig \
         send_signal set_current_blocked set_task_blocked sig_ siginfo_ signal_ sigprocmask \
         sigqueue_ x64_setup_rt_frame",
    ),
    (
        Area::Sockets,
        "alloc_skb bictcp_ build_skb consume_skb cubictcp_ dev_hard_start_xmit dev_ioctl \
         dev_queue_xmit dst_ enqueue_to_backlog eth_type_trans fib_ inet_ ip_ kfree_skb \
         lock_sock loopback_xmit napi_ neigh_ net_rx_action netdev_ netif_ nf_ \
         process_backlog qdisc_ release_sock scm_ sk_ skb_ sock_ sockfd_ tcp_ udp_ unix_",
    ),
    (
        Area::Timers,
        "add_timer calc_wheel clockevents_ clocksource_ del_timer do_timer enqueue_hrtimer \
         hrtimer_ ktime_ mod_timer ntp_ pit_next_event posix_cpu_timer posix_timer read_tsc \
         remove_hrtimer run_hrtimer run_posix_cpu_timers run_timer tick_ timekeeping_ timer_ \
         timerqueue_ tmigr_ update_process_times update_vsyscall update_wall_time",
    ),
    (
        Area::Tracing,
        "bpf_prog_ bpf_trace_ fentry ftrace_ kprobe_ perf_ ring_buffer_ syscall_trace_ trace_ \
         traceiter_ tracing_ uprobe_",
    ),
    (Area::User, "[user]"),
];

/// The functions that an interrupt's handler begins with.
pub(crate) const HANDLERS: &str = "asm_common_interrupt asm_sysvec_ common_interrupt \
    __common_interrupt sysvec_ __sysvec_ timer_interrupt";

/// The beginnings of the files' names for each kind of work, from the root of the kernel's source.
/// What many parts of the kernel use for their own work, such as `lib/`, is in none.
pub(crate) const FILES: Table = &[
    (
        Area::Allocator,
        "mm/memcontrol mm/mempool. mm/mm_init. mm/page_alloc. mm/percpu mm/slab mm/slub. mm/util. \
         mm/vmalloc. mm/vmstat.",
    ),
    (Area::Entry, "arch/x86/entry/ kernel/context_tracking. kernel/entry/ kernel/rseq."),
    (Area::Files, "fs/ mm/filemap. mm/shmem."),
    (Area::Futex, "kernel/futex"),
    (
        Area::Interrupts,
        "arch/x86/kernel/apic/ arch/x86/kernel/i8259. arch/x86/kernel/irq kernel/irq \
         kernel/softirq.",
    ),
    (Area::Ipc, "ipc/"),
    (Area::Locking, "include/linux/spinlock kernel/locking/ lib/lockref."),
    (Area::PageTables, "arch/x86/mm/ mm/"),
    (Area::Pipes, "fs/pipe."),
    (
        Area::Processes,
        "arch/x86/kernel/ioport. arch/x86/kernel/process. fs/binfmt_ fs/exec. kernel/cgroup/ \
         kernel/exit. kernel/fork. kernel/pid",
    ),
    (Area::Rcu, "include/linux/rcu kernel/rcu/"),
    (
        Area::Scheduler,
        "arch/x86/kernel/process_ arch/x86/mm/tlb. include/linux/sched. kernel/sched/",
    ),
    (
        Area::Security,
        "kernel/audit kernel/capability. kernel/cred. kernel/seccomp. kernel/user_namespace. \
         security/",
    ),
    (Area::Signals, "arch/x86/kernel/fpu/signal. arch/x86/kernel/signal kernel/signal."),
    (Area::Sockets, "net/"),
    (Area::Timers, "arch/x86/kernel/tsc. drivers/clocksource/ kernel/time/"),
    (Area::Tracing, "kernel/bpf/ kernel/events/ kernel/kprobes. kernel/trace/ kernel/tracepoint."),
];
