import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
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

/** The workflows as a worker loads them; in a checkout they are bundled, once in a process. */
export function workflowBundle(): Promise<WorkflowBundleOption> {
  bundle ??= existsSync(READY_MADE) ? Promise.resolve({ codePath: READY_MADE }) : bundledApart()
  return bundle
}

/** By a process of its own: the bundler takes hundreds of megabytes, and ours would never give them back. */
async function bundledApart(): Promise<WorkflowBundleOption> {
  const folder = await mkdtemp(join(tmpdir(), 'agentpay-workflows-'))
  try {
    const file = join(folder, 'workflows.js')
    await promisify(execFile)(process.execPath, [path('src/bin/bundle.ts'), file])
    return { code: await readFile(file, 'utf8') }
  } finally {
    await rm(folder, { recursive: true })
  }
}
