import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import type { CommandTable } from '../../../src/derive/commands/table.ts'
import { memberLabelText } from '../../../src/surface/console/parts/text.ts'
import { consoleSections } from '../../../src/surface/console/sections.ts'
import { aBeneficiary, anAgent, aWallet, bodyOf } from '../../support/factories.ts'
import { aVisitor } from './visitors.ts'

const { nouns, operations } = JSON.parse(readFileSync('commands.json', 'utf8')) as CommandTable

/** Sections whose list has a record in its address. */
const OF_A_RECORD = ['authorizations', 'entries', 'request-payments']

const lists = Object.keys(consoleSections).filter(name => !OF_A_RECORD.includes(name))

describe('a page that is derived from the contract', () => {
  test('shows every member of a record that has a value, by its name', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    const agent = await anAgent(client, { metadata: { costCentre: 'R&D' } })
    const run = await bodyOf(
      client.runs.create({ body: { agentId: agent.id, name: 'Review', budgetEuros: 5 } }),
    )
    const shown = [
      'id',
      'ownerId',
      'mode',
      'name',
      'status',
      'createdAt',
      'updatedAt',
      'metadata',
      'currency',
    ]
    for (const [section, record] of [
      ['wallets', await aWallet(client, 5)],
      ['runs', run],
    ] as const) {
      const { text } = await read(`console/${section}/${record.id}`)
      const members = Object.entries(record).filter(
        ([name, value]) => value !== null && !shown.includes(name),
      )
      expect(members.length).toBeGreaterThan(3)
      const names = { spentEuros: 'Used', budgetEuros: 'Budget' }
      for (const [name] of members)
        expect(text).toContain(`<dt>${names[name as keyof typeof names] ?? memberLabelText(name)}</dt>`)
    }
    expect((await read(`console/agents/${agent.id}`)).text).toMatch(
      /<bdi>costCentre<\/bdi><\/dt><dd><bdi>R&amp;D/,
    )
  })

  test('offers every filter of the operation, the status as tabs, and an agent by its name', async () => {
    const { owner, read } = await aVisitor()
    await anAgent(owner.client, { name: 'Scout' })
    const { text } = await read('console/refunds')
    const filters = (operations['refunds.list']?.query ?? []).map(({ name }) => name)
    expect(filters).toContain('origin')
    for (const name of filters)
      expect([name, text.includes(` name="${name}"`)]).toEqual([
        name,
        !['limit', 'cursor', 'status'].includes(name),
      ])
    expect(text).toMatch(/<nav class="states"[^>]*>[\s\S]*href="\?status=completed"/)
    expect(text).toMatch(/<select [^>]*name="agentId"[\s\S]*?>Scout<\/option>/)
  })

  test('asks for the members of the body where an action has some', async () => {
    const { owner, read } = await aVisitor()
    const { id } = await aBeneficiary(owner.client)
    const { text } = await read(`console/beneficiaries/${id}`)
    const form =
      /<form [^>]*data-operation="PATCH \/beneficiaries\/\{id\}"[\s\S]*?<\/form>/.exec(text)?.[0] ?? ''
    const members = (operations['beneficiaries.update']?.body?.members ?? []).map(({ name }) => name)
    expect(members).toContain('webauthnAssertion')
    for (const name of members)
      expect([name, form.includes(` name="${name}"`)]).toEqual([name, name !== 'webauthnAssertion'])
  })

  test('says commands that there are', async () => {
    const { read } = await aVisitor()
    const said = new Set<string>()
    for (const list of lists)
      for (const [, noun = '', verb = ''] of (await read(`console/${list}`)).text.matchAll(
        /data-copy="agentpay ([a-z-]+) ?([a-z-]*)/g,
      ))
        said.add(`${noun} ${verb}`.trim())
    expect(said.size).toBeGreaterThan(20)
    const known = Object.entries(nouns).flatMap(([noun, { verbs }]) =>
      Object.keys(verbs).map(verb => `${noun} ${verb}`),
    )
    expect([...said].filter(one => one !== 'login' && !known.includes(one))).toEqual([])
  })
})
