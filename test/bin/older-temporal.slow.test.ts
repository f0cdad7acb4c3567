import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { findTemporal } from '../../src/dev/temporal/binary.ts'
import { clientAt } from '../support/client.ts'
import { aFundedAgent, anIntent, bodyOf } from '../support/factories.ts'
import { beforeRemoval, temporaryFolder } from '../support/processes/folders.ts'
import { lastingPort } from '../support/processes/lasting-port.ts'
import type { Launched } from '../support/processes/launched.ts'
import { buildable, published } from '../support/processes/releases.ts'
import { instanceOf, startService, stopService } from '../support/processes/service-process.ts'
import { tools } from '../support/processes/tools.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

/** The PATH of the developer, without any Temporal. */
const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter(folder => !existsSync(join(folder, 'temporal')))
  .join(delimiter)

const dataDir = temporaryFolder()
const machine = tools()
const PORT = String(await lastingPort())
let service: Launched | undefined

/** The service with the given release, which is the only one there. */
async function startWith(release: typeof buildable | typeof published): Promise<Launched> {
  const found = await findTemporal({
    env: { ...process.env, PATH },
    tell: () => undefined,
    releases: [release],
  })
  if (found.binary === null) throw new Error(found.reason)
  machine.install('temporal', `#!/bin/sh\nexec '${found.binary}' "$@"\n`)
  service = await startService(dataDir, { PATH: `${machine.env.PATH}${delimiter}${PATH}`, PORT })
  await until('its Temporal', () => instanceOf(dataDir).temporalAddress)
  return service
}

await startWith(buildable)
beforeRemoval(async () => void (service && (await stopService(service))))
const client = clientAt({ url: instanceOf(dataDir).url, token: String(instanceOf(dataDir).apiKey) })
const runs = await runViewer(String(instanceOf(dataDir).temporalAddress))
const agent = await aFundedAgent(client)

/** An intent whose run waits for a person, with a timer until its end. */
async function aWaitingIntent(): ReturnType<typeof anIntent> {
  const intent = await anIntent(client, agent.id)
  await runs.of(intent).untilDetails('waits for approval')
  return intent
}

describe('npm start with the oldest server that is served', () => {
  test('says so in one line, and lets an operator decide about a run', async () => {
    const lines = service
      ?.output()
      .split('\n')
      .filter(line => line.includes(buildable.server))
    expect(lines).toEqual([
      expect.stringMatching(
        `^This is Temporal server ${buildable.server}, and production runs ${published.server}: `,
      ),
    ])
    const intent = await aWaitingIntent()
    const run = runs.of(intent)
    expect(await run.update('approve', { by: 'Ada' })).toMatchObject({ status: 'approved' })
  })

  test('leaves runs that begin anew with a newer server, and go on', async () => {
    const [decided, expiring] = [runs.of(await aWaitingIntent()), runs.of(await aWaitingIntent())]
    await stopService(service as Launched)
    const { output } = await startWith(published)
    expect(output()).toContain(
      `Temporal's data was made by server ${buildable.server} and now lies in temporal-older.db. Open runs begin anew`,
    )
    expect(output()).not.toContain('This is Temporal server')
    for (const run of [decided, expiring]) await run.untilDetails('waits for approval')
    expect(await decided.update('approve', { by: 'Ada' })).toMatchObject({ status: 'approved' })
    await bodyOf(client.sandbox.advance({ body: { seconds: 40 * 86_400 } }))
    expect(await expiring.untilEnded()).toBe('expired')
  })

  test('is taken as it is at the next start', async () => {
    const intent = await aWaitingIntent()
    const { runId } = await runs.of(intent).handle.describe()
    await stopService(service as Launched)
    const { output } = await startWith(published)
    expect(output()).not.toContain('temporal-older.db')
    expect((await runs.of(intent).handle.describe()).runId).toBe(runId)
    expect(readdirSync(dataDir)).toContain('temporal-older.db')
  })
})
