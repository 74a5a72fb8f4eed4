//! libseccomp, loaded when it is needed: what making a program takes of its interface
//! (`seccomp.h`).

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;

use libloading::{Library as Loaded, Symbol};

/// The library's file name since 2012.
const NAME: &str = "libseccomp.so.2";
/// `SCMP_FLTATR_CTL_OPTIMIZE`, and its value for a tree of comparisons.
const OPTIMIZE: (c_uint, u32) = (8, 2);
/// `__NR_SCMP_ERROR`: there is no such call.
const NO_CALL: c_int = -1;

/// The library libseccomp, once it is loaded.
pub(super) struct Library(Loaded);

/// A comparison of an argument (`struct scmp_arg_cmp`).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// Which argument, from 0.
    pub(super) argument: u32,
    /// `enum scmp_compare`.
    pub(super) operator: u32,
    /// What it is compared with; the second only if the first is a mask.
    pub(super) values: [u64; 2],
}

/// A filter that is being made.
pub(super) struct Filter<'a> {
    library: &'a Library,
    context: *mut c_void,
}

impl Library {
    /// Loads libseccomp from this machine.
    pub(super) fn open() -> Result<Self, String> {
        // SAFETY: its initialisation has no preconditions.
        unsafe { Loaded::new(NAME) }.map(Self).map_err(|error| {
            format!("{NAME}, which makes the filter, can't be loaded ({error}): install libseccomp")
        })
    }

    /// One of its functions.
    ///
    /// # Safety
    /// `T` is the function's type.
    unsafe fn function<T>(&self, name: &str) -> Result<Symbol<'_, T>, String> {
        // SAFETY: handed on.
        unsafe { self.0.get(name) }.map_err(|error| format!("{NAME} has no {name} ({error})"))
    }

    /// What the library calls this architecture, by its name in the specification; None if it does
    /// not know the name.
    pub(super) fn architecture(&self, name: &str) -> Result<Option<u32>, String> {
        type Resolve = unsafe extern "C" fn(*const c_char) -> u32;
        let short = name.strip_prefix("SCMP_ARCH_").map(|name| CString::new(name.to_lowercase()));
        let Some(Ok(short)) = short else { return Ok(None) };
        // SAFETY: `uint32_t seccomp_arch_resolve_name(const char *)`, of a C string.
        let token =
            unsafe { self.function::<Resolve>("seccomp_arch_resolve_name")?(short.as_ptr()) };
        Ok((token != 0).then_some(token))
    }

    /// The number of the call of this name, of x86-64 or the library's own; None if it does not
    /// know the name.
    pub(super) fn call(&self, name: &str) -> Result<Option<c_int>, String> {
        type Resolve = unsafe extern "C" fn(*const c_char) -> c_int;
        let name = CString::new(name).map_err(|_| format!("{name:?} is no system call"))?;
        // SAFETY: `int seccomp_syscall_resolve_name(const char *)`, of a C string.
        let call =
            unsafe { self.function::<Resolve>("seccomp_syscall_resolve_name")?(name.as_ptr()) };
        Ok((call != NO_CALL).then_some(call))
    }

    /// A filter with this default action.
    pub(super) fn filter(&self, default: u32) -> Result<Filter<'_>, String> {
        type Init = unsafe extern "C" fn(u32) -> *mut c_void;
        // SAFETY: `scmp_filter_ctx seccomp_init(uint32_t)`.
        let context = unsafe { self.function::<Init>("seccomp_init")?(default) };
        if context.is_null() {
            return Err(format!("{NAME} makes no filter with this default action"));
        }
        Ok(Filter { library: self, context })
    }
}

impl Filter<'_> {
    /// Has the calls of another architecture's programs pass as well, by its name in the
    /// specification.
    pub(super) fn add_architecture(&mut self, name: &str) -> Result<(), String> {
        type Add = unsafe extern "C" fn(*mut c_void, u32) -> c_int;
        let token = self.library.architecture(name)?;
        let token = token.ok_or_else(|| format!("{NAME} knows no architecture {name}"))?;
        // SAFETY: `int seccomp_arch_add(scmp_filter_ctx, uint32_t)`, of this live filter.
        match unsafe { self.library.function::<Add>("seccomp_arch_add")?(self.context, token) } {
            0 => Ok(()),
            error => Err(format!("{NAME} can't add {name} (error {})", -error)),
        }
    }

    /// Asks for a tree of comparisons. A library that is too old makes a list, as it does for
    /// container runtimes.
    pub(super) fn compare_as_tree(&mut self) {
        type Set = unsafe extern "C" fn(*mut c_void, c_uint, u32) -> c_int;
        // SAFETY: `int seccomp_attr_set(scmp_filter_ctx, enum scmp_filter_attr, uint32_t)`.
        unsafe {
            if let Ok(set) = self.library.function::<Set>("seccomp_attr_set") {
                set(self.context, OPTIMIZE.0, OPTIMIZE.1);
            }
        }
    }

    /// Gives the call of this name the action where all comparisons hold. A call that the library
    /// does not know changes nothing, as for container runtimes.
    pub(super) fn add(
        &mut self,
        action: u32,
        name: &str,
        comparisons: &[Comparison],
    ) -> Result<(), String> {
        type Add =
            unsafe extern "C" fn(*mut c_void, u32, c_int, c_uint, *const Comparison) -> c_int;
        let Some(call) = self.library.call(name)? else { return Ok(()) };
        let count = c_uint::try_from(comparisons.len()).map_err(|error| error.to_string())?;
        // SAFETY: `int seccomp_rule_add_array(scmp_filter_ctx, uint32_t, int, unsigned int, const
        // struct scmp_arg_cmp *)`; it reads `count` of them.
        let added = unsafe {
            let add = self.library.function::<Add>("seccomp_rule_add_array")?;
            add(self.context, action, call, count, comparisons.as_ptr())
        };
        match added {
            0 => Ok(()),
            error => Err(format!("{NAME} takes no such rule for {name} (error {})", -error)),
        }
    }

    /// The program, as the kernel takes it.
    pub(super) fn program(&self) -> Result<Vec<u8>, String> {
        type Export = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
        let failed = |error: std::io::Error| format!("taking the filter from {NAME}: {error}");
        let mut file: File = tempfile::tempfile().map_err(failed)?;
        // SAFETY: `int seccomp_export_bpf(scmp_filter_ctx, int)`, with an open descriptor.
        let exported = unsafe {
            let export = self.library.function::<Export>("seccomp_export_bpf")?;
            export(self.context, file.as_raw_fd())
        };
        if exported != 0 {
            return Err(format!("{NAME} can't make the program (error {})", -exported));
        }
        let mut program = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut program)).map_err(failed)?;
        Ok(program)
    }
}

impl Drop for Filter<'_> {
    fn drop(&mut self) {
        type Release = unsafe extern "C" fn(*mut c_void);
        // SAFETY: `void seccomp_release(scmp_filter_ctx)`, of a filter that nobody uses any more.
        unsafe {
            if let Ok(release) = self.library.function::<Release>("seccomp_release") {
                release(self.context);
            }
        }
    }
}
