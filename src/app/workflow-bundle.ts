import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  type BundleOptions,
  bundleWorkflowCode,
  DefaultLogger,
  type WorkflowBundleOption,
} from '@temporalio/worker'
import { clock } from '../values/system-clock.ts'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

/** The bundle in the production image, which has neither the workflows' sources nor the native bundler. */
const PREBUILT = path('dist/workflows.js')

interface Bundle {
  readonly code: string
  readonly sourceMap: string
  /** Every file that the bundler read, below the checkout. */
  readonly files: readonly string[]
}

export async function bundleWorkflows(): Promise<Bundle> {
  const files = new Set<string>()
  const webpackConfigHook: BundleOptions['webpackConfigHook'] = config => {
    const plugin = { apply: (compiler: Compiler) => compiler.hooks.done.tap('files', noteFiles) }
    return { ...config, plugins: [...(config.plugins ?? []), plugin] }
  }
  const noteFiles: Done = ({ compilation }) => {
    for (const file of compilation.fileDependencies) if (isFile(file)) files.add(relative(path(''), file))
  }
  const workflowsPath = path('workflows/index.ts')
  const built = await bundleWorkflowCode({
    workflowsPath,
    logger: new DefaultLogger('WARN'),
    webpackConfigHook,
  })
  return { ...built, files: [...files].toSorted() }
}

const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false

/** What is used of webpack, whose types are not among our dependencies. */
type Done = (stats: { readonly compilation: { readonly fileDependencies: Iterable<string> } }) => void
interface Compiler {
  readonly hooks: { readonly done: { tap(name: string, done: Done): void } }
}

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
/** The files of the newest bundle. While they are as they were, nothing else can be in a new one. */
const FILES = join(CACHE, 'workflow-files.json')

async function cachedBundle(): Promise<WorkflowBundleOption> {
  const known = await readFile(FILES, 'utf8')
    .then(async text => bundleOf(await hashOf(JSON.parse(text))))
    .catch(() => undefined)
  return { codePath: known && existsSync(known) ? known : await build() }
}

const bundleOf = (hash: string): string => join(CACHE, `workflows-${hash}.js`)

/** A hash over the names and contents of the files of a bundle, and over what bundles them. */
async function hashOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256')
  for (const file of [...files, ...BUNDLERS]) hash.update(`${file}\n`).update(await readFile(path(file)))
  return hash.digest('hex').slice(0, 16)
}

const BUNDLERS = ['src/app/workflow-bundle.ts', 'node_modules/@temporalio/worker/package.json']

/** Builds in a separate process: the bundler takes hundreds of megabytes, which this process would keep. */
async function build(): Promise<string> {
  await mkdir(CACHE, { recursive: true })
  const began = clock.milliseconds()
  const unfinished = join(CACHE, `workflows.${process.pid}`)
  const list = `${unfinished}.json`
  await promisify(execFile)(process.execPath, [path('src/bin/bundle.ts'), unfinished, list])
  const files: readonly string[] = JSON.parse(await readFile(list, 'utf8'))
  for (const file of files)
    if ((await stat(path(file))).mtimeMs >= began) throw new Error(`${file} was changed while it was bundled`)
  const built = bundleOf(await hashOf(files))
  await rename(unfinished, built)
  await rename(list, FILES)
  return built
}
