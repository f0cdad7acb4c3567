import { expect, test } from '@jest/globals'
import { schemaHistory } from '../../src/migrations/index.ts'
import { aKey, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { type InConsole, peopleInConsole } from '../support/identity/in-console.ts'
import { assertion } from '../support/identity/people.ts'

const service = await startTestService({ own: true })

const MIGRATION = '0054-who-spends'
const WANTED = { name: 'Build server', environment: 'sandbox' } as const

test('keys of before get the person who made them in the console, from the journal', async () => {
  const owner = await service.owner()
  const [boss, other] = (await peopleInConsole(service, owner, ['owner', 'owner'])) as [InConsole, InConsole]
  const webauthnAssertion = await assertion(boss.client, boss, { purpose: 'key', subject: WANTED })
  const key = await bodyOf(boss.client.keys.create({ body: { ...WANTED, webauthnAssertion } }))
  const made = await aKey(service.client(String(key.key)))
  const subject = { keyId: made.id }
  const signature = await assertion(other.client, other, { purpose: 'key', subject })
  const replaced = await bodyOf(
    other.client.keys.rotate({ params: { id: made.id }, body: { webauthnAssertion: signature } }),
  )
  const peopleOfKeys = async () =>
    Object.fromEntries(
      (await bodyOf(owner.client.keys.list({ query: {} }))).data.map(({ id, madeByPersonId }) => [
        id,
        madeByPersonId,
      ]),
    )
  const known = await peopleOfKeys()
  expect(known).toMatchObject({
    [key.id]: boss.personId,
    [made.id]: boss.personId,
    [replaced.id]: other.personId,
  })
  await service.sql('update keys set made_by_person_id = null')
  const { text = '' } = schemaHistory().migrations.find(({ name }) => name === MIGRATION) ?? {}
  await service.sql(/^update keys k [^;]*;/m.exec(text)?.[0] ?? '')
  expect(await peopleOfKeys()).toEqual(known)
})
