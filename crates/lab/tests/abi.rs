//! What the probes take for the lab kernel's interface is what the C compiler makes of `lab/uapi/`.
//!
//! The probes' side of it is compiled here once more, on a kernel that is a closure: it finds the
//! fields of what it is passed where the C compiler places them. So commands, layouts and
//! which side writes what are compared, not the numbers in two lists.

use std::{cell::RefCell, path::Path, process::Command};

#[allow(dead_code, reason = "names of devices are no numbers; the paths use them")]
#[path = "../../probes/src/lab.rs"]
mod lab;

/// What the probes' side calls.
mod sys {
    #[allow(unused_imports, reason = "the call's number is there, or with its commands")]
    pub(crate) use pathmeter_probes::sys::{CStr, Ret, errno, nr};

    /// # Safety
    /// The test's kernel accesses what the pointers among the arguments point to.
    pub(crate) unsafe fn checked(number: usize, arguments: [usize; 6]) -> Ret {
        let [command, argument, rest @ ..] = arguments;
        assert_eq!(rest, [0; 4]);
        super::KERNEL.with_borrow_mut(|kernel| {
            let kernel = kernel.as_mut().expect("the test has set a kernel");
            kernel(number, command, argument)
        })
    }
}

type Kernel = Box<dyn FnMut(usize, usize, usize) -> sys::Ret>;

thread_local! {
    static KERNEL: RefCell<Option<Kernel>> = const { RefCell::new(None) };
}

/// From now on `kernel` answers: to number, command and argument.
fn kernel(kernel: impl FnMut(usize, usize, usize) -> sys::Ret + 'static) {
    KERNEL.set(Some(Box::new(kernel)));
}

/// The C compiler's values of integer expressions about the two headers, in their order.
fn c<const N: usize>(name: &str, expressions: [&str; N]) -> [usize; N] {
    let uapi = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/uapi");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = program.with_extension("c");
    let prints = expressions
        .map(|it| format!("\tprintf(\"%llu\\n\", (unsigned long long)({it}));\n"))
        .concat();
    let text = format!(
        "#include <lab.h>\n#include <labdev.h>\n#include <stddef.h>\n#include <stdio.h>\n\
         int main(void)\n{{\n{prints}}}\n"
    );
    std::fs::write(&source, text).expect("the target folder can be written to");

    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(compiler)
        .args(["-std=gnu11", "-Wall", "-Werror", "-I"])
        .args([&uapi, Path::new("-o"), &program, &source])
        .status();
    assert!(
        status.expect("there is a C compiler").success(),
        "{} does not compile",
        source.display()
    );
    let output = Command::new(&program).output().expect("what was compiled runs");
    let values: Vec<usize> = String::from_utf8(output.stdout)
        .expect("digits")
        .lines()
        .map(|line| line.parse().expect("a number"))
        .collect();
    values.try_into().expect("a number for each expression")
}

/// The bytes at an address that the probes' side passed.
fn at<const N: usize>(address: usize, offset: usize) -> [u8; N] {
    let from = std::ptr::with_exposed_provenance::<[u8; N]>(address + offset);
    // SAFETY: the structure at `address` is alive during the call, and has a field of N bytes there
    // if its layout is C's, which is what is tested.
    unsafe { from.read_unaligned() }
}

fn u32_at(address: usize, offset: usize) -> u32 {
    u32::from_ne_bytes(at(address, offset))
}

fn u64_at(address: usize, offset: usize) -> u64 {
    u64::from_ne_bytes(at(address, offset))
}

fn write<const N: usize>(address: usize, offset: usize, bytes: [u8; N]) {
    let to = std::ptr::with_exposed_provenance_mut::<[u8; N]>(address + offset);
    // SAFETY: as for `at`; the probes' side lent it for writing.
    unsafe { to.write_unaligned(bytes) };
}

#[test]
fn commands_and_numbers_are_the_headers() {
    let [call, flags, raise, softirqs, hi, timer, net_rx, user, inside, idle, halt, cpus] = c(
        "numbers",
        [
            "SYS_LAB",
            "LAB_YIELD_FLAGS",
            "LAB_SOFTIRQ_RAISE",
            "LAB_SOFTIRQS",
            "LAB_HI",
            "LAB_TIMER",
            "LAB_NET_RX",
            "LAB_IN_USER",
            "LAB_IN_KERNEL",
            "LAB_IN_IDLE",
            "LAB_IN_HALT",
            "LAB_CPUS",
        ],
    );
    let numbers = [lab::HI, lab::TIMER, lab::NET_RX].map(|softirq| softirq as usize);
    assert_eq!((numbers, lab::CPUS), ([hi, timer, net_rx], cpus));
    let contexts = [lab::IN_USER, lab::IN_KERNEL, lab::IN_IDLE, lab::IN_HALT].map(usize::from);
    assert_eq!(contexts, [user, inside, idle, halt]);

    kernel(move |number, command, argument| {
        assert_eq!((number, command, argument), (call, flags, 0));
        Ok(0x202)
    });
    assert_eq!(lab::yield_flags(), Ok(0x202));

    // Asked by a softirq that is none: the first number that the kernel refuses.
    kernel(move |number, command, argument| {
        assert_eq!((number, command, argument), (call, raise, softirqs));
        Err(sys::errno::EINVAL)
    });
    assert!(lab::records_softirqs());
}

#[test]
fn the_devices_commands_are_the_headers() {
    let [state, params_32, poll, loaded, serial, bytes] = c(
        "device",
        [
            "LABDEV_STATE",
            "LABDEV_PARAMS32",
            "LABDEV_POLL",
            "LABDEV_CHURN(0)",
            "offsetof(struct labdev_state, serial)",
            "sizeof(struct labdev_params32)",
        ],
    );
    assert_eq!(
        [lab::STATE, lab::PARAMS_32, lab::POLL, lab::LOADED],
        [state, params_32, poll, loaded]
    );
    assert_eq!([lab::STATE_SERIAL, lab::PARAMS_32_BYTES], [serial, bytes]);
    let [most, answer] = c("limits", ["LABDEV_MOST_LOOKS", "LABDEV_CHURN_ANSWER"]);
    assert_eq!([lab::MOST_LOOKS, lab::LOADED_ANSWER], [most, answer]);
}

#[test]
fn a_driver_is_loaded_and_unloaded_by_lab_commands() {
    let [call, commands] = c("commands", ["SYS_LAB", "LAB_COMMANDS"]);
    kernel(move |number, command, argument| {
        assert_eq!((number, command), (call, commands));
        Ok(argument + 7)
    });
    assert_eq!([lab::load(), lab::unload(), lab::calls_at_work()], [Ok(8), Ok(7), Ok(9)]);
}

#[test]
fn an_armed_softirq_is_a_struct_lab_softirq_arm() {
    let [call, arm, delay, softirq, cpu, source, again] = c(
        "arm",
        [
            "SYS_LAB",
            "LAB_SOFTIRQ_ARM",
            "offsetof(struct lab_softirq_arm, delay)",
            "offsetof(struct lab_softirq_arm, softirq)",
            "offsetof(struct lab_softirq_arm, cpu)",
            "offsetof(struct lab_softirq_arm, source)",
            "offsetof(struct lab_softirq_arm, again)",
        ],
    );
    kernel(move |number, command, at| {
        assert_eq!((number, command), (call, arm));
        assert_eq!((u64_at(at, delay), u32_at(at, softirq)), (0x1234_5678_9abc, 4));
        assert_eq!([u32_at(at, cpu), u32_at(at, source), u32_at(at, again)], [0, 0, 7]);
        Ok(0)
    });
    assert_eq!(lab::arm_softirq(0x1234_5678_9abc, 4, 7), Ok(0));
}

#[test]
fn a_request_is_a_struct_lab_round_trip() {
    let [call, trip, first, second, work] = c(
        "trip",
        [
            "SYS_LAB",
            "LAB_ROUND_TRIP",
            "offsetof(struct lab_round_trip, first)",
            "offsetof(struct lab_round_trip, second)",
            "offsetof(struct lab_round_trip, work)",
        ],
    );
    kernel(move |number, command, at| {
        assert_eq!((number, command), (call, trip));
        assert_eq!([first, second, work].map(|place| u64_at(at, place)), [1, 2, 3]);
        Ok(0)
    });
    assert_eq!(lab::round_trip(&lab::RoundTrip { first: 1, second: 2, work: 3 }), Ok(0));
}

#[test]
fn records_are_taken_by_a_struct_lab_softirq_take() {
    let [call, take, records, capacity, count, lost] = c(
        "take",
        [
            "SYS_LAB",
            "LAB_SOFTIRQ_TAKE",
            "offsetof(struct lab_softirq_take, records)",
            "offsetof(struct lab_softirq_take, capacity)",
            "offsetof(struct lab_softirq_take, count)",
            "offsetof(struct lab_softirq_take, lost)",
        ],
    );
    let [size, raised, entered, softirq, cpu, context] = c(
        "record",
        [
            "sizeof(struct lab_softirq_record)",
            "offsetof(struct lab_softirq_record, raised)",
            "offsetof(struct lab_softirq_record, entered)",
            "offsetof(struct lab_softirq_record, softirq)",
            "offsetof(struct lab_softirq_record, cpu)",
            "offsetof(struct lab_softirq_record, context)",
        ],
    );
    kernel(move |number, command, at| {
        assert_eq!((number, command, u32_at(at, capacity)), (call, take, 3));
        let first = usize::try_from(u64_at(at, records)).expect("an address");
        for i in 0..2_u8 {
            let record = first + usize::from(i) * size;
            write(record, raised, (10 + u64::from(i)).to_ne_bytes());
            write(record, entered, (20 + u64::from(i)).to_ne_bytes());
            write(record, softirq, (30 + u32::from(i)).to_ne_bytes());
            write(record, cpu, (40 + u16::from(i)).to_ne_bytes());
            write(record, context, (50 + u16::from(i)).to_ne_bytes());
        }
        write(at, count, 2_u32.to_ne_bytes());
        write(at, lost, 7_u64.to_ne_bytes());
        Ok(0)
    });
    let mut room = [lab::SoftirqRecord::default(); 3];
    let (taken, lost) = lab::take_softirqs(&mut room).expect("the kernel above succeeds");
    let taken: Vec<_> =
        taken.iter().map(|r| (r.raised, r.entered, r.softirq, r.cpu, r.context)).collect();
    assert_eq!((taken, lost), (vec![(10, 20, 30, 40, 50), (11, 21, 31, 41, 51)], 7));
}

#[test]
fn lock_counts_are_a_struct_lab_bkl() {
    let [call, bkl, cpus, size, stride, acquired, contended, spins, waited] = c(
        "bkl",
        [
            "SYS_LAB",
            "LAB_BKL",
            "LAB_CPUS",
            "sizeof(struct lab_bkl)",
            "offsetof(struct lab_bkl, cpu[1]) - offsetof(struct lab_bkl, cpu[0])",
            "offsetof(struct lab_bkl, cpu[0].acquired)",
            "offsetof(struct lab_bkl, cpu[0].contended)",
            "offsetof(struct lab_bkl, cpu[0].spins)",
            "offsetof(struct lab_bkl, cpu[0].waited)",
        ],
    );
    // What the kernel writes must fit what the probes lend it.
    assert_eq!(size_of::<[lab::LockCounts; lab::CPUS]>(), size);
    kernel(move |number, command, at| {
        assert_eq!((number, command), (call, bkl));
        for cpu in 0..cpus {
            for (i, field) in [acquired, contended, spins, waited].into_iter().enumerate() {
                write(at, cpu * stride + field, (cpu * 10 + i).to_ne_bytes());
            }
        }
        Ok(0)
    });
    let counts = lab::take_lock_counts().expect("the kernel above succeeds");
    for (cpu, one) in counts.iter().enumerate() {
        let fields = [one.acquired, one.contended, one.spins, one.waited];
        assert_eq!(fields, [0, 1, 2, 3].map(|i| (cpu * 10 + i) as u64));
    }
}
