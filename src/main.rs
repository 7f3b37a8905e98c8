//! The program: everything it does is in the library.

/// Counts, matches and lays out on several threads: the system's own keeps what each of them let go of.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    mcp_loupe::cli::main()
}
