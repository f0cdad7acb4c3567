import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

export interface DebianProgram {
  readonly path: string
  /** Where the libraries of an unpacked program are. */
  readonly env: Readonly<Record<string, string>>
}

/** A program of this machine, or Debian's, unpacked into a folder with the libraries that its packages have. */
export function findProgram(path: string, packages: readonly string[], folder: string): DebianProgram {
  const name = basename(path)
  try {
    return { path: execFileSync('which', [name], { encoding: 'utf8' }).trim(), env: {} }
  } catch {
    if (!existsSync(join(folder, path))) unpack(name, packages, folder)
    const files = readdirSync(join(folder, 'usr'), { recursive: true, encoding: 'utf8' })
    const libraries = files.filter(file => /\.so[.\d]*$/.test(file)).map(file => dirname(file))
    const paths = [...new Set(libraries)].map(library => join(folder, 'usr', library))
    return { path: join(folder, path), env: { LD_LIBRARY_PATH: paths.join(':') } }
  }
}

function unpack(name: string, packages: readonly string[], folder: string): void {
  try {
    execFileSync('apt-get', ['--quiet', 'download', ...packages], { cwd: folder, stdio: 'ignore' })
  } catch (error) {
    throw new Error(`${name} is missing, and apt-get cannot download it. Install it.`, { cause: error })
  }
  const archives = readdirSync(folder).filter(file => file.endsWith('.deb'))
  for (const archive of archives) execFileSync('dpkg-deb', ['--extract', join(folder, archive), folder])
}
