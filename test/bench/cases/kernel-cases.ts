import { join } from 'node:path'
import type { Case, Request } from '../case.ts'
import { node, serve } from '../child.ts'
import { BARE_KEY, note } from '../echo.ts'
import { fillSamples, SAMPLES, withdrawInSql } from '../samples.ts'
import { bearer, post, type Stage } from '../stage.ts'
import { policy } from './plain-cases.ts'

/** In this order, so that compared cases are measured one after the other. */
export async function kernelCases(stage: Stage): Promise<Case[]> {
  const { api: server, token, folder } = stage
  const bare = await serve(node('test/bench/bare.ts'), join(folder, 'bare.log'), {})
  stage.closeLater(bare.stop)
  const { id: policyId } = await post(server, '/policies', policy, bearer(stage))
  await fillSamples(stage)
  const echo = (key: string): Request => ({ method: 'POST', path: '/echo', token: key, body: note })
  const withdraw = (samples: number) => ({
    server,
    request: (): Request => ({
      method: 'POST',
      path: '/samples/sample_{n}/withdraw',
      token,
      body: { amount: 1 },
      keys: true,
      numbers: { from: 1, to: samples },
    }),
    sqlEquivalent: () => withdrawInSql(samples),
  })
  return [
    {
      name: 'bare',
      title: 'Express, same work, no database',
      server: bare,
      request: () => echo(BARE_KEY),
    },
    { name: 'echo', title: 'the pipeline, no database', server, request: () => echo(token) },
    {
      name: 'get',
      title: 'GET /policies/{id}',
      server,
      request: () => ({ method: 'GET', path: `/policies/${policyId}`, token }),
    },
    {
      name: 'create',
      title: 'POST /policies',
      server,
      request: () => ({ method: 'POST', path: '/policies', token, body: policy }),
    },
    { name: 'pots', title: 'hot operation, 1,000 records', ...withdraw(SAMPLES) },
    { name: 'pot', title: 'hot operation, one record', ...withdraw(1) },
  ]
}
