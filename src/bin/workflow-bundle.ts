import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** Comes with an image, which has neither the sources of the workflows nor the native part of the bundler. */
const READY_MADE = path('dist/workflows.js')

export const bundleWorkflows = () =>
  bundleWorkflowCode({ workflowsPath: path('workflows/index.ts'), logger: new DefaultLogger('WARN') })

let bundle: Promise<WorkflowBundleOption> | undefined

/** The workflows as a worker loads them; in a checkout they are bundled, once in a process. */
export function workflowBundle(): Promise<WorkflowBundleOption> {
  bundle ??= existsSync(READY_MADE) ? Promise.resolve({ codePath: READY_MADE }) : bundleWorkflows()
  return bundle
}
