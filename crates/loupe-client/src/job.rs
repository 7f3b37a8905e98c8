//! On Windows a server and everything it starts are held in a job object that ends them all when its last handle is
//! closed: when the session is dropped, and by the system when Loupe is killed. Elsewhere the guard does this.

use std::io;

use tokio::process::Child;
use win32job::{ExtendedLimitInfo, Job};

/// Puts a child that was just started into a job of its own.
///
/// # Errors
/// What the system says against it, or that the child has ended already.
pub(super) fn hold(child: &Child) -> io::Result<Job> {
    let mut limits = ExtendedLimitInfo::new();
    limits.limit_kill_on_job_close();
    let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
    let handle = child
        .raw_handle()
        .ok_or_else(|| io::Error::other("it has ended already"))?;
    job.assign_process(handle.expose_provenance() as isize)
        .map_err(io::Error::other)?;
    Ok(job)
}
