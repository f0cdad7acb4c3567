import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** Comes with an image, which has neither the sources of the workflows nor the native part of the bundler. */
const READY_MADE = path('dist/workflows.js')

export const bundleWorkflows = () =>
  bundleWorkflowCode({ workflowsPath: path('workflows/index.ts'), logger: new DefaultLogger('WARN') })

let bundle: Promise<WorkflowBundleOption> | undefined

/** The workflows as a worker loads them; in a checkout they are bundled once for what they are made of. */
export function workflowBundle(): Promise<WorkflowBundleOption> {
  bundle ??= existsSync(READY_MADE)
    ? Promise.resolve({ codePath: READY_MADE })
    : // Where nothing may be written, or the process ends badly: here, which says why if it cannot be.
      bundledOnce().catch(bundleWorkflows)
  return bundle
}

const CACHE = path('node_modules/.cache/agent-payments')

async function bundledOnce(): Promise<WorkflowBundleOption> {
  const file = join(CACHE, `workflows-${await ingredients()}.js`)
  if (!existsSync(file)) await bundleInto(file)
  return { codePath: file }
}

/** All that a workflow may import: the workflows, what describes their processes, and the SDK. */
async function ingredients(): Promise<string> {
  const sources = globSync(['workflows/**/*.ts', 'src/**/process.ts'], { cwd: path('') })
  const files = [...sources.toSorted(), 'node_modules/@temporalio/workflow/package.json']
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\n`).update(await readFile(path(file)))
  return hash.digest('hex').slice(0, 16)
}

/** By a process of its own: the bundler takes hundreds of megabytes, and ours would never give them back. */
async function bundleInto(file: string): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const unfinished = `${file}.${process.pid}`
  await promisify(execFile)(process.execPath, [path('src/bin/bundle.ts'), unfinished])
  await rename(unfinished, file)
}
