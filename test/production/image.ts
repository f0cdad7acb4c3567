import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { guardedChild } from '../../src/dev/processes/guarded-child.ts'

export interface Image {
  readonly folder: string
  readonly node: string
  readonly env: Readonly<Record<string, string>>
  readonly healthCheck: readonly string[]
}

interface Stage {
  /** Its root file system: the files that the Dockerfile writes. */
  readonly root: string
  workdir: string
  env: Record<string, string>
  healthCheck: string[]
}

/** Executes the instructions one by one, so that the Dockerfile itself is tested and no copy of it. */
export async function buildImage(into: string, tell: (line: string) => void): Promise<Image> {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const [instruction, rest] of instructions(readFileSync('Dockerfile', 'utf8'))) {
    if (instruction === 'FROM') stage = begin(rest, stages, join(into, `stage-${stages.size}`))
    else if (stage && instruction === 'RUN') await run(rest, stage, tell)
    else if (stage) execute(instruction, rest, stage, stages)
  }
  if (!stage) throw new Error('the Dockerfile has no stage')
  // The image's user may not be allowed to enter the checkout, so it gets a copy.
  const node = join(into, 'node')
  copyFileSync(process.execPath, node)
  return { folder: pathIn(stage, '.'), node, env: stage.env, healthCheck: stage.healthCheck }
}

const instructions = (text: string): [string, string][] =>
  text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .flatMap(line => {
      const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
      return instruction ? [[instruction, rest] satisfies [string, string]] : []
    })

function begin(rest: string, stages: Map<string, Stage>, root: string): Stage {
  const [, base = '', name = `${stages.size}`] = /^(\S+)(?: AS (\w+))?$/.exec(rest) ?? []
  const before = stages.get(base)
  const { version } = process
  if (!before && !base.startsWith(`node:${version.slice(1)}-bookworm-slim@sha256:`))
    throw new Error(`the base ${base} is not the Node ${version} that comes along`)
  mkdirSync(root)
  if (before) cpSync(before.root, root, { recursive: true })
  const { workdir, env, healthCheck } = before ?? { workdir: '/', env: {}, healthCheck: [] }
  const stage = { root, workdir, env: { ...env }, healthCheck }
  stages.set(name, stage)
  return stage
}

function execute(instruction: string, rest: string, stage: Stage, stages: Map<string, Stage>): void {
  if (instruction === 'WORKDIR') {
    stage.workdir = rest
    mkdirSync(pathIn(stage, '.'), { recursive: true })
  } else if (instruction === 'ENV') {
    for (const pair of rest.split(' ')) stage.env[pair.split('=')[0] ?? ''] = pair.split('=')[1] ?? ''
  } else if (instruction === 'COPY') copy(rest, stage, stages)
  else if (instruction === 'HEALTHCHECK') stage.healthCheck = JSON.parse(rest.replace(/^.*? CMD /, ''))
  else if (!['USER', 'EXPOSE', 'CMD'].includes(instruction))
    throw new Error(`${instruction} is not known here`)
}

/** The path on this machine of a path in the image. */
const pathIn = ({ root, workdir }: Stage, path: string): string =>
  join(root, path.startsWith('/') ? path : join(workdir, path))

/**
 * Copies files into the image; moves them if they come from another stage, as no other instruction reads them
 * there.
 */
function copy(rest: string, stage: Stage, stages: Map<string, Stage>): void {
  const [, from, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(rest) ?? []
  const source = from ? stages.get(from) : undefined
  const names = paths.split(' ')
  const to = names.pop() ?? ''
  for (const name of names) {
    const target = pathIn(stage, to.endsWith('/') ? join(to, name) : to)
    if (source) moveIn(pathIn(source, name), target)
    else cpSync(name, target, { recursive: true })
  }
}

/** Merges a folder into one that exists, as COPY does: files of the same name are replaced, others stay. */
export function moveIn(source: string, target: string): void {
  if (!existsSync(target) || !lstatSync(source).isDirectory()) renameSync(source, target)
  else for (const name of readdirSync(source)) moveIn(join(source, name), join(target, name))
}

/** The outer shell makes created files readable for all users; `exec` lets a single command replace the inner one. */
const SHELL = ['sh', '-c', 'umask 022; exec sh -c "$0"']

async function run(command: string, stage: Stage, tell: (line: string) => void): Promise<void> {
  tell(`  ${command}`)
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const env = { ...process.env, PATH, ...stage.env }
  const log = `${stage.root}.log`
  const cwd = pathIn(stage, '.')
  const { exit } = guardedChild([...SHELL, command], { user: {}, cwd, log, env, signal: 'KILL' })
  if ((await exit) !== 0) throw new Error(`${command}\n${readFileSync(log, 'utf8')}`)
}
