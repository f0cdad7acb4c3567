import { beforeAll, describe, expect, test } from '@jest/globals'
import { searchFor } from '../../support/cards/card-data-search.ts'
import type { Place } from '../../support/cards/places.ts'
import { type WatchedInstallation, watchedInstallation } from '../../support/cards/watched-installation.ts'
import { anAgent, aWebhook } from '../../support/factories.ts'
import { launch } from '../../support/processes/launched.ts'
import { withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

const planted = { number: '9999111122223333', expMonth: 1, expYear: 2030, cvc: '918' }
const plantedText = JSON.stringify({ note: `the card is 9999 1111 2222 3333`, cvc: planted.cvc })

/** Writes a card into each place, as a defect could. */
async function plant({
  client,
  receiver,
  temporal,
  databaseUrl,
  alsoLogs,
}: WatchedInstallation): Promise<void> {
  const { id } = await anAgent(client, { name: planted.number })
  await withConnection(databaseUrl, db =>
    db.query('update agents set description = $1 where id = $2', [plantedText, id]),
  )
  const run = { workflowId: 'planted', taskQueue: 'nobody', args: [plantedText] }
  await temporal.workflow.start('planted', run)
  await fetch(receiver.url, { method: 'POST', body: plantedText })
  const logging = launch(process.execPath, ['-e', `console.log(${JSON.stringify(plantedText)})`])
  await logging.exit
  alsoLogs(logging)
}

const watched = await watchedInstallation()
let places: Readonly<Record<string, Place>>

beforeAll(async () => {
  await aWebhook(watched.client, { url: `${watched.receiver.url}/hooks`, events: ['agent.created'] })
  await anAgent(watched.client)
  await until('a webhook', () => watched.receiver.at('/hooks').length > 0)
  await plant(watched)
  places = await watched.places()
}, 90_000)

const NAMES = ['logs', 'database', 'histories', 'files of Temporal', 'webhooks', 'answers']

describe('a full run', () => {
  const plantedSearch = searchFor([planted], [])

  test.each(NAMES)('is searched where it writes: in %s', name => {
    expect(Object.keys(places).sort()).toEqual([...NAMES].sort())
    const found = places[name]?.texts.flatMap(text => plantedSearch.in(text))
    expect(found).toEqual(expect.arrayContaining([expect.stringContaining('a number')]))
  })

  test.each(['logs', 'database', 'histories', 'webhooks'])('is searched by values: in %s', name => {
    expect(plantedSearch.inValues(places[name]?.values ?? [])).toContain('a CVC alone')
  })
})
