//! The program: everything it does is in the library.

/// Gives memory back after a large result; the system's allocator keeps what each thread has freed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    mcp_loupe::cli::main()
}
