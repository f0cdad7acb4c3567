import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ClientContract } from './contract.ts'
import { renderApiTypes, renderOperationsModule } from './typescript-api.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

const INDEX = `import { clientClass } from './packages/typescript/package.js'
import { operations } from './operations.js'

export { isRefusal, NoAnswer, Pages, Refused } from './packages/typescript/package.js'
export const AgentPay = clientClass(operations)
`

const INDEX_TYPES = `import type { Api, OperationKey, RefusalCodes } from './api.js'
import type { AgentPayOptions, FetchOptions, ToolCall, ToolClient, ToolOptions } from './packages/typescript/package.js'
import { Refused } from './packages/typescript/package.js'

export * from './api.js'
export { type AgentPayOptions, type CallOptions, type FetchOptions, NoAnswer, type Page, Pages, Refused, type ToolCall, type ToolClient, type ToolOptions, type WaitOptions } from './packages/typescript/package.js'

/** The client: each noun of the service is a member, each operation a method of it. */
export interface AgentPay extends Api {
  /**
   * Requests an address as \`fetch\` does, and pays a 402 on the way from an approved intent for this merchant. It pays
   * once. If the second answer is lost, \`mpp.list({ intentId })\` shows the outcome.
   */
  fetch(url: string, options: FetchOptions): Promise<Response>
  /**
   * Calls a tool of a merchant's MCP server, and pays for it if it asks for payment, from an approved intent for this
   * merchant. It pays once. If the second answer is lost, \`mpp.list({ intentId })\` shows the outcome.
   */
  callTool<R>(client: ToolClient<R>, call: ToolCall, options: ToolOptions): Promise<R>
}
export declare const AgentPay: new (options?: AgentPayOptions) => AgentPay

/** Whether an error is a refusal of this operation; its code then has the type of the operation's codes. */
export declare function isRefusal<K extends OperationKey>(error: unknown, operation: K): error is Refused<RefusalCodes[K]>
`

const COMMAND = `#!/usr/bin/env node
import '../lib/bin/agentpay.js'
`

const manifest = (version: string) => ({
  name: 'agentpay',
  version,
  description:
    'Agent Payments: a typed client, the checks of its signatures, the command, and the MCP server for assistants',
  license: 'UNLICENSED',
  type: 'module',
  engines: { node: '>=18' },
  bin: { agentpay: 'bin/agentpay.mjs' },
  exports: {
    '.': { types: './lib/index.d.ts', default: './lib/index.js' },
    './verify': {
      types: './lib/packages/typescript/verify.d.ts',
      default: './lib/packages/typescript/verify.js',
    },
    './package.json': './package.json',
  },
  sideEffects: false,
  files: ['bin', 'lib', 'commands.json'],
})

export async function writeTypescriptPackage(contract: ClientContract, folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'bin'), { recursive: true })
  await compile(join(folder, 'lib'))
  const text = {
    'lib/index.js': INDEX,
    'lib/index.d.ts': INDEX_TYPES,
    'lib/operations.js': renderOperationsModule(contract),
    'lib/api.d.ts': renderApiTypes(contract),
    'bin/agentpay.mjs': COMMAND,
    'package.json': `${JSON.stringify(manifest(contract.version), null, 2)}\n`,
  }
  for (const [name, content] of Object.entries(text))
    writeFileSync(join(folder, name), content, { mode: modeOf(name) })
  for (const [from, to] of [
    ['commands.json', 'commands.json'],
    ['src/packages/typescript/README.md', 'README.md'],
  ] as const)
    cpSync(join(root, from), join(folder, to))
}

const modeOf = (name: string): number => (name.startsWith('bin/') ? 0o755 : 0o644)

async function compile(folder: string): Promise<void> {
  const entries = ['bin/agentpay.ts', 'packages/typescript/package.ts', 'packages/typescript/verify.ts']
  await run(process.execPath, [
    join(root, 'node_modules/typescript/bin/tsc'),
    '--ignoreConfig',
    ...['--rootDir', join(root, 'src'), '--outDir', folder],
    ...['--target', 'es2022', '--module', 'nodenext', '--moduleResolution', 'nodenext'],
    ...[
      '--lib',
      'es2024,dom,dom.asynciterable',
      '--types',
      'node',
      '--typeRoots',
      join(root, 'node_modules/@types'),
    ],
    '--declaration',
    '--rewriteRelativeImportExtensions',
    '--verbatimModuleSyntax',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess',
    '--skipLibCheck',
    ...entries.map(entry => join(root, 'src', entry)),
  ]).catch(error => {
    throw new Error(`The package does not compile: ${error.stdout}`)
  })
  removeCommandTypes(folder)
}

/** The command is run, not imported, so it needs no types. */
function removeCommandTypes(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (/^(command|bin)\b.*\.d\.ts$/.test(name)) rmSync(join(folder, name))
}
