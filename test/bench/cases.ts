import { node, outputOf, type Served } from './child.ts'
import { BARE_KEY, note } from './echo.ts'
import type { Job, Measured } from './load.ts'
import { POTS, policy, type Stage } from './stage.ts'

export interface Case {
  readonly name: string
  readonly server: Served
  readonly job: Omit<Job, 'url' | 'connections' | 'seconds'>
}

/** In this order, so that what is compared is measured one after the other. */
export function casesOf({ bare, api, token, policyId }: Stage): Case[] {
  const pots = Array.from({ length: POTS }, (_, n) => `/pots/pot_${n + 1}/take`)
  const take = { method: 'POST', token, body: { amount: 1 }, keys: true } as const
  return [
    { name: 'bare', server: bare, job: { method: 'POST', paths: ['/echo'], token: BARE_KEY, body: note } },
    { name: 'echo', server: api, job: { method: 'POST', paths: ['/echo'], token, body: note } },
    { name: 'get', server: api, job: { method: 'GET', paths: [`/policies/${policyId}`], token } },
    { name: 'create', server: api, job: { method: 'POST', paths: ['/policies'], token, body: policy } },
    { name: 'pots', server: api, job: { ...take, paths: pots } },
    { name: 'pot', server: api, job: { ...take, paths: pots.slice(0, 1) } },
  ]
}

export interface Result extends Measured {
  readonly name: string
  readonly connections: number
  /** Processor time of the server. */
  readonly cpuMicroseconds: number
}

export async function measure(
  { name, server, job }: Case,
  connections: number,
  seconds: number,
): Promise<Result> {
  const before = server.cpuSeconds()
  const told = JSON.stringify({ ...job, url: server.url, connections, seconds } satisfies Job)
  const [program = '', ...args] = node('test/bench/load.ts')
  const measured = JSON.parse(await outputOf(program, [...args, told])) as Measured
  const cpuMicroseconds = ((server.cpuSeconds() - before) * 1e6) / measured.sent
  return { name, connections, ...measured, cpuMicroseconds }
}
