import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readCompose } from '../production/compose.ts'

/** With `BENCH_LIMITS=1`, as root, each has the memory of its container in `docker-compose.yml`. */
const isLimited = process.env.BENCH_LIMITS === '1'

const SERVICES: Readonly<Record<string, string>> = {
  'test/bench/server.ts': 'api-1',
  'src/bin/worker.ts': 'worker-1',
  'src/bin/relay.ts': 'relay',
}

/** The second version of control groups, or the first. */
const KERNEL = existsSync('/sys/fs/cgroup/cgroup.controllers')
  ? { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak', events: 'memory.events' }
  : {
      root: '/sys/fs/cgroup/memory',
      limit: 'memory.limit_in_bytes',
      peak: 'memory.max_usage_in_bytes',
      events: 'memory.oom_control',
    }

/** The group of each service. */
const groups = new Map<string, string>()

/** What starts the program in its group, so that all of its memory counts. */
export function inMemoryGroup(file: string): string[] {
  const service = isLimited ? SERVICES[file] : undefined
  if (service === undefined) return []
  return ['/bin/sh', '-c', 'echo $$ > "$0/cgroup.procs" && exec "$@"', groupOf(service)]
}

function groupOf(service: string): string {
  const open = groups.get(service)
  if (open !== undefined) return open
  const limit = readCompose({}).services[service]?.deploy?.resources.limits.memory
  if (limit === undefined) throw new Error(`docker-compose.yml has no memory limit of ${service}`)
  const group = join(KERNEL.root, `agentpay-bench-${process.pid}-${service}`)
  mkdirSync(group)
  process.once('exit', () => remove(group))
  writeFileSync(join(group, KERNEL.limit), limit)
  groups.set(service, group)
  return group
}

function remove(group: string): void {
  try {
    rmdirSync(group)
  } catch {
    // When a bench is interrupted, its killed processes have not left the group yet.
  }
}

export interface MemoryUse {
  readonly service: string
  readonly limitMib: number
  /** With the pages of files that the kernel would drop first. */
  readonly peakMib: number
  readonly kills: number
}

export const memoryUses = (): MemoryUse[] =>
  [...groups].map(([service, group]) => {
    const read = (name: string): string => readFileSync(join(group, name), 'utf8')
    const mib = (name: string): number => Math.round(Number(read(name)) / 2 ** 20)
    const [, kills] = /^oom_kill (\d+)$/m.exec(read(KERNEL.events)) ?? []
    return { service, limitMib: mib(KERNEL.limit), peakMib: mib(KERNEL.peak), kills: Number(kills) }
  })
