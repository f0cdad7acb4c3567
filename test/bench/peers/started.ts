import { until } from '../../support/until.ts'
import { answerOf, type Served, start } from '../child.ts'
import type { Job, Measured } from '../load/load.ts'
import type { Place } from './compare.ts'

interface Command {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Starts a program, and waits until its address answers well if it has one. */
export async function startIn(
  { folder, closeLater }: Place,
  name: string,
  { command, env }: Command,
  ready?: string,
): Promise<Served> {
  const running = await start({ command, env, cwd: folder, log: `${folder}/${name}.log` }, /^/)
  closeLater(running.stop)
  const isReady = async () => ready === undefined || (await fetch(ready).catch(() => undefined))?.ok
  await until(`${name} is ready`, isReady)
  return { ...running, url: new URL(ready ?? 'http://127.0.0.1').origin }
}

/** Sends a request for each account, one after the other. */
export async function forEachAccount(
  job: Omit<Job, 'numbers' | 'connections' | 'seconds' | 'token' | 'method'>,
  count: number,
): Promise<void> {
  const { failed } = await answerOf<Measured>('test/bench/load/load.ts', {
    ...job,
    method: 'POST',
    token: '',
    numbers: { from: 1, to: count, inOrder: true },
    most: count,
    connections: 1,
    seconds: 120,
  } satisfies Job)
  if (failed > 0) throw new Error(`${failed} accounts could not be made`)
}
