import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll } from '@jest/globals'
import { readClientContract } from '../../../src/packages/write/contract.ts'
import { writePythonPackage } from '../../../src/packages/write/python-package.ts'
import { zipStream } from '../../../src/values/zip.ts'

const run = promisify(execFile)

export interface PythonFolder {
  readonly folder: string
  /** Runs the Python with the installed package, and returns its output. */
  python(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>
}

/**
 * A folder with its own Python, into which pip has installed the package, as a wheel or from sources, and the
 * type checker.
 */
export async function aPythonWithThePackage(
  from: 'wheel' | 'sdist',
  ...tools: readonly string[]
): Promise<PythonFolder> {
  const folder = mkdtempSync(join(tmpdir(), 'agentpay-python-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const written = await writePythonPackage(readClientContract(), join(folder, 'package'), zipStream)
  const own = join(folder, 'python')
  await run('python3', ['-m', 'venv', own]).catch(error => {
    throw new Error(
      `Python needs its modules venv and pip (Debian: python3-venv): ${error.stdout || error.message}`,
    )
  })
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', written[from], ...tools]
  await run(join(own, 'bin/python'), pip)
  return {
    folder,
    async python(args, env = {}) {
      const PATH = process.env.PATH ?? ''
      return (await run(join(own, 'bin/python'), [...args], { cwd: folder, env: { PATH, ...env } })).stdout
    },
  }
}
