import { beforeAll, describe, expect, test } from '@jest/globals'
import type { CardData } from '../../../src/adapters/card-processor/encrypt.ts'
import type { CardDataSearch } from '../../support/cards/card-data-search.ts'
import { searchFor } from '../../support/cards/card-data-search.ts'
import { cardLife } from '../../support/cards/card-life.ts'
import type { Place } from '../../support/cards/places.ts'
import { type WatchedInstallation, watchedInstallation } from '../../support/cards/watched-installation.ts'
import { anAgent } from '../../support/factories.ts'
import { launch } from '../../support/processes/launched.ts'
import { withConnection } from '../../support/rows.ts'

/** As long as the real secret, so that the same part of it is searched for. */
const plantedSecrets = [
  { about: 'a credential', text: `eyJjaGFsbGVuZ2UiOnsi${'planted-credential'.repeat(40)}` },
  { about: 'an encrypted token', text: `eyJhbGciOiJSU0EtT0FFUC0yNTYi.${'planted-token'.repeat(40)}` },
  { about: 'a challenge secret', text: 'planted-secret-of-a-challenge-0123456789_abc' },
]
const planted = { number: '9999111122223333', expMonth: 1, expYear: 2030 }

/** No issued card has this CVC, so a hit on theirs was not planted. */
const plantedCvc = (issued: readonly CardData[]): string =>
  ['918', '919', '921', '922'].find(cvc => issued.every(card => card.cvc !== cvc)) ?? ''

/** Writes a card into each place, as a defect could. */
async function plant(
  { client, receiver, temporal, databaseUrl, alsoLogs }: WatchedInstallation,
  cvc: string,
): Promise<void> {
  const secrets = plantedSecrets.map(({ text }) => text)
  const plantedText = JSON.stringify({ note: 'the card is 9999 1111 2222 3333', cvc, secrets })
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
let life: Awaited<ReturnType<typeof cardLife>>
let places: Readonly<Record<string, Place>>
let search: CardDataSearch

const NAMES = ['logs', 'database', 'histories', 'files of Temporal', 'webhooks', 'answers']

describe('in a full run of cards,', () => {
  beforeAll(async () => {
    life = await cardLife(watched)
    search = searchFor(life.cards, life.tokens, life.machine)
    await plant(watched, plantedCvc(life.cards))
    places = await watched.places()
  })

  describe('card data', () => {
    test('is what was issued, and what its recipients have read', () => {
      expect([life.cards.length, life.tokens.length, life.read.length]).toEqual([3, 4, 5])
      const numbers = [...life.cards, ...life.tokens].map(({ number }) => number)
      expect(new Set(numbers).size).toBe(7)
      for (const data of life.read) expect(numbers).toContain((data as { number: string }).number)
    })

    test('of machine payments is what merchants have opened, what others have sent, and our keys', () => {
      const abouts = life.machine.map(({ about }) => about)
      const numbers = life.tokens.map(({ number }) => number)
      const opened = life.machine.filter(({ about }) => about === 'the number of a payment')
      expect(opened).toHaveLength(2)
      for (const { text } of opened) expect(numbers).toContain(text)
      expect(new Set(abouts)).toEqual(
        new Set([
          'a credential',
          'an encrypted token',
          'the number of a payment',
          'the cryptogram of a payment',
          'a credential of another',
          'the number of another',
          'a challenge secret',
          'a private key',
          'a signing key',
        ]),
      )
    })

    test.each(NAMES)('does not appear in the %s', name => {
      const { texts = [], values = [] } = places[name] ?? {}
      expect(texts.length).toBeGreaterThan(0)
      expect(texts.flatMap(text => search.in(text))).toEqual([])
      expect(search.inValues(values)).toEqual([])
    })
  })

  describe('data that was planted', () => {
    let plantedSearch: CardDataSearch

    beforeAll(() => {
      plantedSearch = searchFor([{ ...planted, cvc: plantedCvc(life.cards) }], [], plantedSecrets)
    })

    test.each(NAMES)('is found in the %s', name => {
      expect(Object.keys(places).sort()).toEqual([...NAMES].sort())
      const found = places[name]?.texts.flatMap(text => plantedSearch.in(text))
      expect(found).toEqual(expect.arrayContaining([expect.stringContaining('a number')]))
    })

    test.each(['logs', 'database', 'histories', 'webhooks'])(
      'of machine payments is found in the %s',
      name => {
        const found = places[name]?.texts.flatMap(text => plantedSearch.in(text)) ?? []
        for (const { about } of plantedSecrets)
          expect(found).toEqual(expect.arrayContaining([expect.stringContaining(about)]))
      },
    )

    test.each(['logs', 'database', 'histories', 'webhooks'])('is found among the values of the %s', name => {
      expect(plantedSearch.inValues(places[name]?.values ?? [])).toContain('a CVC alone')
    })
  })
})
