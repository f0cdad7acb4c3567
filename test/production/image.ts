import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { guardedChild } from '../../src/dev/processes/guarded-child.ts'

/** What `docker build` would have made of the Dockerfile, as a folder. */
export interface Image {
  readonly folder: string
  readonly node: string
  readonly env: Readonly<Record<string, string>>
  readonly healthCheck: readonly string[]
}

interface Stage {
  /** Its root file system, as far as the Dockerfile writes it. */
  readonly root: string
  workdir: string
  env: Record<string, string>
  healthCheck: string[]
}

/** Carries out the instructions one by one, so that what is tried is the Dockerfile and no likeness of it. */
export async function buildImage(into: string, tell: (line: string) => void): Promise<Image> {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const [instruction, rest] of instructions(readFileSync('Dockerfile', 'utf8'))) {
    if (instruction === 'FROM') stage = begin(rest, stages, join(into, `stage-${stages.size}`))
    else if (stage && instruction === 'RUN') await run(rest, stage, tell)
    else if (stage) carryOut(instruction, rest, stage, stages)
  }
  if (!stage) throw new Error('the Dockerfile has no stage')
  // Where the checkout is, the user of the image may not be let in.
  const node = join(into, 'node')
  copyFileSync(process.execPath, node)
  return { folder: inside(stage, '.'), node, env: stage.env, healthCheck: stage.healthCheck }
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

function carryOut(instruction: string, rest: string, stage: Stage, stages: Map<string, Stage>): void {
  if (instruction === 'WORKDIR') {
    stage.workdir = rest
    mkdirSync(inside(stage, '.'), { recursive: true })
  } else if (instruction === 'ENV') {
    for (const pair of rest.split(' ')) stage.env[pair.split('=')[0] ?? ''] = pair.split('=')[1] ?? ''
  } else if (instruction === 'COPY') copy(rest, stage, stages)
  else if (instruction === 'HEALTHCHECK') stage.healthCheck = JSON.parse(rest.replace(/^.*? CMD /, ''))
  else if (!['USER', 'EXPOSE', 'CMD'].includes(instruction))
    throw new Error(`${instruction} is not known here`)
}

/** A path of the image, as it is in the folder of its stage. */
const inside = ({ root, workdir }: Stage, path: string): string =>
  join(root, path.startsWith('/') ? path : join(workdir, path))

/** What comes from another stage is moved: nothing else takes it from there. */
function copy(rest: string, stage: Stage, stages: Map<string, Stage>): void {
  const [, from, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(rest) ?? []
  const source = from ? stages.get(from) : undefined
  const names = paths.split(' ')
  const to = names.pop() ?? ''
  for (const name of names) {
    const target = inside(stage, to.endsWith('/') ? join(to, name) : to)
    if (source) renameSync(inside(source, name), target)
    else cpSync(name, target, { recursive: true })
  }
}

/** The inner shell becomes a command that is alone; the outer one gives what is made to everybody to read. */
const BY_SHELL = ['sh', '-c', 'umask 022; exec sh -c "$0"']

async function run(command: string, stage: Stage, tell: (line: string) => void): Promise<void> {
  tell(`  ${command}`)
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const env = { ...process.env, PATH, ...stage.env }
  const log = `${stage.root}.log`
  const cwd = inside(stage, '.')
  const { exit } = guardedChild([...BY_SHELL, command], { user: {}, cwd, log, env, signal: 'KILL' })
  if ((await exit) !== 0) throw new Error(`${command}\n${readFileSync(log, 'utf8')}`)
}
