import { readFileSync } from 'node:fs'
import { host } from '../../dev/host.mjs'
import { withInstallLock } from './install-lock.mjs'
import { runNpm } from './run-npm.mjs'

/** The service runs without the packages for development, which take as long to install as all others. */
export async function install({ dev }) {
  if (installed({ dev })) return
  await withInstallLock(async lock => {
    // Another launch may have installed while this one waited for the lock.
    if (!installed({ dev })) await runNpm(lock, { dev, isAddition: installed({ dev: false }) })
  })
}

function installed({ dev }) {
  const { '': project, ...wanted } = packages('package-lock.json')
  const present = packages('node_modules/.package-lock.json')
  return Object.entries(wanted).every(([path, entry]) => {
    if (entry.dev && !dev) return true
    const found = present[path]
    if (found) return found.version === entry.version && found.integrity === entry.integrity
    return (
      entry.optional &&
      !(path.slice('node_modules/'.length) in project.optionalDependencies && fitsHere(entry))
    )
  })
}

function packages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return {}
  }
}

/** The lockfile lists builds for every platform, and npm installs the matching ones. */
function fitsHere({ os = host.platform, cpu = host.architecture }) {
  return [os].flat().includes(host.platform) && [cpu].flat().includes(host.architecture)
}
