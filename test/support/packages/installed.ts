import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { readClientContract } from '../../../src/packages/write/contract.ts'
import { writeTypescriptPackage } from '../../../src/packages/write/typescript-package.ts'
import { temporaryFolder } from '../processes/folders.ts'

const run = promisify(execFile)

/** The npm that runs the tests, or the one on the PATH. */
const { npm_execpath: npm = '', npm_node_execpath: nodeOfNpm = process.execPath } = process.env
const npmCommand: readonly [string, ...string[]] = npm.endsWith('.js') ? [nodeOfNpm, npm] : ['npm']

/** Runs npm in a folder with its own cache, and returns its output. */
export async function runNpm(args: readonly string[], cwd: string): Promise<string> {
  const [command, ...first] = npmCommand
  const env = { ...process.env, npm_config_cache: join(cwd, '.npm'), npm_config_update_notifier: 'false' }
  const { stdout } = await run(command, [...first, ...args], { cwd, env })
  return stdout
}

/** A folder into which npm has installed the package, without a network: it has no dependencies. */
export async function aFolderWithThePackage(): Promise<string> {
  const folder = temporaryFolder()
  await writeTypescriptPackage(readClientContract(), join(folder, 'package'))
  await runNpm(['pack', './package', '--silent'], folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const archive = `agentpay-${readClientContract().version}.tgz`
  await runNpm(['install', `./${archive}`, '--offline', '--no-audit', '--no-fund', '--silent'], folder)
  return folder
}

/** The available versions of Node: the project's, and the one that started the tests if it differs. */
export const nodes: readonly string[] = [
  process.execPath,
  ...[nodeOfNpm].filter(
    node => existsSync(node) && dirname(node) !== dirname(process.execPath) && node !== process.execPath,
  ),
]
