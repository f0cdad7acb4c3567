import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { clock } from '../../../src/values/clock.ts'
import { type Section, tableLine } from '../report.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'

const launcher = fileURLToPath(new URL('../../../src/bin/launcher/agentpay.mjs', import.meta.url))

interface Started {
  readonly title: string
  readonly program: string
  readonly args: readonly string[]
}

/** The time of each program from start to end, one after the other in turns, so that all meet the same noise. */
export async function measureCommand({ api, token, env }: Stage): Promise<Section> {
  const url = `${api.url}/customers/me`
  const programs: Record<string, Started> = {
    node: { title: 'node -e 0', program: process.execPath, args: ['-e', '0'] },
    help: { title: 'agentpay --help', program: process.execPath, args: [launcher, '--help'] },
    noun: {
      title: 'agentpay intents create --help',
      program: process.execPath,
      args: [launcher, 'intents', 'create', '--help'],
    },
    call: { title: 'agentpay customers me', program: process.execPath, args: [launcher, 'customers', 'me'] },
    fetch: {
      title: 'node, fetch of the same',
      program: process.execPath,
      args: ['-e', fetching(url, token)],
    },
    curl: {
      title: 'curl of the same',
      program: 'curl',
      args: ['-sS', '-f', '-H', `Authorization: Bearer ${token}`, url],
    },
  }
  const surroundings = { PATH: process.env.PATH, ...env, AGENTPAY_URL: api.url, AGENTPAY_KEY: token }
  const times = new Map(Object.keys(programs).map(name => [name, [] as number[]]))
  for (let round = 0; round < usualOrShort(40, 2); round++)
    for (const [name, started] of Object.entries(programs))
      times.get(name)?.push(millisecondsOf(started, surroundings))
  const figures = Object.fromEntries([...times].map(([name, list]) => [name, spread(list)]))
  return { figures: { command: figures }, text: reportOf(programs, figures) }
}

const fetching = (url: string, token: string): string =>
  `fetch('${url}',{headers:{authorization:'Bearer ${token}'}}).then(r=>r.ok?r.text():process.exit(1)).then(t=>process.stdout.write(t))`

function millisecondsOf({ title, program, args }: Started, env: Record<string, string | undefined>): number {
  const start = clock.ticks()
  const { status, stderr } = spawnSync(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  if (status !== 0) throw new Error(`${title} has ended with ${status}: ${stderr}`)
  return clock.ticks() - start
}

interface Spread {
  readonly p10: number
  readonly p50: number
}

/** The tenth percentile is what the program needs; the median is what people wait on this machine. */
function spread(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0
  return { p10: at(0.1), p50: at(0.5) }
}

function reportOf(
  programs: Readonly<Record<string, Started>>,
  figures: Readonly<Record<string, Spread>>,
): string {
  const own = figures.node
  return [
    tableLine(['from start to end', 'p10 ms', 'p50 ms', '/ node -e 0, by p10']),
    ...Object.entries(programs).map(([name, { title }]) => {
      const { p10 = 0, p50 = 0 } = figures[name] ?? {}
      return tableLine([title, p10.toFixed(1), p50.toFixed(1), (p10 / (own?.p10 ?? p10)).toFixed(2)])
    }),
  ].join('\n')
}
