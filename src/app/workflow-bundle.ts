import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** The bundle in the production image, which has neither the workflows' sources nor the native bundler. */
const PREBUILT = path('dist/workflows.js')

export const bundleWorkflows = () =>
  bundleWorkflowCode({ workflowsPath: path('workflows/index.ts'), logger: new DefaultLogger('WARN') })

let bundle: Promise<WorkflowBundleOption> | undefined

/** In a checkout the bundle is built once for each state of the sources, and cached. */
export function workflowBundle(): Promise<WorkflowBundleOption> {
  bundle ??= existsSync(PREBUILT)
    ? Promise.resolve({ codePath: PREBUILT })
    : // Without a writable cache, or if the other process fails, it is built here, which shows the error.
      cachedBundle().catch(bundleWorkflows)
  return bundle
}

/** Differs where the workflows differ. */
export async function workflowHash(): Promise<string> {
  const bundle = await workflowBundle()
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath)
  return createHash('sha256').update(code).digest('hex').slice(0, 8)
}

const CACHE = path('node_modules/.cache/agent-payments')

async function cachedBundle(): Promise<WorkflowBundleOption> {
  const file = join(CACHE, `workflows-${await sourceHash()}.js`)
  if (!existsSync(file)) await bundleInto(file)
  return { codePath: file }
}

/** A hash over everything that workflows may import: each other, the `process.ts` files and the SDK. */
async function sourceHash(): Promise<string> {
  const sources = globSync(['workflows/**/*.ts', 'src/**/process.ts'], { cwd: path('') })
  const files = [...sources.toSorted(), 'node_modules/@temporalio/workflow/package.json']
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\n`).update(await readFile(path(file)))
  return hash.digest('hex').slice(0, 16)
}

/** Builds in a separate process: the bundler takes hundreds of megabytes, which this process would keep. */
async function bundleInto(file: string): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const unfinished = `${file}.${process.pid}`
  await promisify(execFile)(process.execPath, [path('src/bin/bundle.ts'), unfinished])
  await rename(unfinished, file)
}
