import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

// A symbolic link is created in one step together with its content, which is the id of the installing
// process.
const LOCK = '.installing'

export async function withInstallLock(work) {
  let told = false
  while (!taken()) {
    if (!told) process.stdout.write(`Process ${holder()} is installing here; waiting for it\n`)
    told = true
    await sleep(250)
  }
  try {
    await work({ passTo })
  } finally {
    rmSync(LOCK, { force: true })
  }
}

/** The lock must belong to a live process, and npm may outlive this one. */
function passTo(pid) {
  symlinkSync(String(pid), `${LOCK}.${pid}`)
  renameSync(`${LOCK}.${pid}`, LOCK)
}

function taken() {
  try {
    symlinkSync(String(process.pid), LOCK)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    if (!alive(holder())) rmSync(LOCK, { force: true })
    return false
  }
}

function holder() {
  try {
    return Number(readlinkSync(LOCK))
  } catch {
    return 0
  }
}

function alive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}
