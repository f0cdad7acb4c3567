import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { assembleBody } from '../../src/command/arguments/body.ts'
import { parseOperationCall, parseOptionValue } from '../../src/command/arguments/operation-call.ts'
import type { CommandIo } from '../../src/command/io.ts'
import { readCommandDefinitions, type ValueShape } from '../../src/command/table.ts'
import { temporaryFolder } from '../support/processes/folders.ts'

const table = readCommandDefinitions()
const call = (key: string, ...args: string[]) => parseOperationCall(table.get(key), args)
const bodyOf = (key: string, ...args: string[]) => call(key, ...args).members

describe('the arguments of a command', () => {
  test('give numbers, texts, and members below members', () => {
    expect(
      bodyOf(
        'intents.create',
        '--amountEuros',
        '9.50',
        '--purpose',
        'A paper',
        '--metadata.team',
        'research',
      ),
    ).toEqual({ amountEuros: 9.5, purpose: 'A paper', metadata: { team: 'research' } })
  })

  test('are read with hyphens in the names of members, too', () => {
    expect(bodyOf('intents.create', '--amount-euros', '1', '--client-intent-id=a')).toEqual({
      amountEuros: 1,
      clientIntentId: 'a',
    })
  })

  test('take the text of a decision as reason and as comment, but no reason code as a comment', () => {
    expect(bodyOf('intents.approve', 'intent_1', '--reason', 'Go ahead')).toEqual({ comment: 'Go ahead' })
    expect(bodyOf('intents.approve', 'intent_1', '--comment', 'Go ahead')).toEqual({ comment: 'Go ahead' })
    expect(bodyOf('onboarding.reject', 'application_1', '--comment', 'Too new')).toEqual({
      reason: 'Too new',
    })
    expect(() => bodyOf('intents.approve', 'intent_1', '--reason', 'a', '--comment', 'b')).toThrow('twice')
    expect(() => bodyOf('disputes.create', '--comment', 'fraud')).toThrow('--comment')
  })

  test('give a list by repeating, by commas and as JSON', () => {
    const scopes = ['agents:read', 'policies:read']
    for (const args of [
      ['--scopes', 'agents:read', '--scopes', 'policies:read'],
      ['--scopes', 'agents:read,policies:read'],
      ['--scopes', JSON.stringify(scopes)],
    ])
      expect(bodyOf('agentTokens.create', 'agent_1', '--label', 'a', ...args)).toEqual({ label: 'a', scopes })
  })

  test('give lists of records as JSON, and by the numbers of the items', () => {
    const [first, second] = [
      { walletId: 'wallet_1', amountEuros: 1 },
      { walletId: 'wallet_2', amountEuros: 2 },
    ]
    expect(
      bodyOf('transfers.split', '--parts', JSON.stringify(first), '--parts', JSON.stringify(second)),
    ).toEqual({ parts: [first, second] })
    expect(bodyOf('transfers.split', '--parts.0.amountEuros', '1', '--parts.0.walletId', 'wallet_1')).toEqual(
      { parts: [first] },
    )
  })

  test('say yes and no to what is true or false', () => {
    const policy = (...args: string[]) => bodyOf('policies.create', '--name', 'A', ...args)
    expect(policy('--requireIntent')).toMatchObject({ requireIntent: true })
    expect(policy('--requireIntent=false')).toMatchObject({ requireIntent: false })
    expect(policy('--no-requireIntent')).toMatchObject({ requireIntent: false })
  })

  test('give null where a member may be null', () => {
    expect(bodyOf('keys.create', '--name', 'null', '--environment', 'test', '--expiresAt', 'null')).toEqual({
      name: 'null',
      environment: 'test',
      expiresAt: null,
    })
  })

  test('reach a member that is called like an option', () => {
    expect(bodyOf('mpp.pay', '--url', 'https://a.example', '--member.body', '{"a":1}')).toEqual({
      url: 'https://a.example',
      body: { a: 1 },
    })
  })

  test('keep a free name such as __proto__ a name', () => {
    const body = bodyOf('agents.create', '--name', 'A', '--metadata.__proto__', 'x')
    expect(JSON.stringify(body)).toBe('{"name":"A","metadata":{"__proto__":"x"}}')
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test.each([
    [['--amountEuros', '25,50'], '--amountEuros does not take 25,50. Write 25.50. Its type is: number.'],
    [['--amountEuros', '1,000'], '--amountEuros does not take 1,000. Its type is: number.'],
    [['--amountEuros', '0x10'], '--amountEuros does not take 0x10. Its type is: number.'],
    [['--amountEuros', '1e3'], '--amountEuros does not take 1e3. Its type is: number.'],
    [
      ['--amountEuros', '9007199254740993'],
      '--amountEuros has too many digits: 9007199254740993. Write at most 15.',
    ],
    [['--amountEuros'], '--amountEuros needs a value.'],
    [['--purpose', '--json'], '--purpose needs a value. If --json is the value, write --purpose=--json'],
    [['--purpose', 'a', '--purpose', 'b'], '--purpose is given twice. Give it once.'],
    [['--purpos', 'a'], 'Unknown option --purpos. Did you mean --purpose?'],
    [['--metadata', '{a}'], /^--metadata is not valid JSON: /],
    [['intent_1'], /^intents create takes \[agentId\] .*, and not intent_1\.$/],
    [['--metadata.'], 'Unknown option --metadata.. Did you mean --metadata?'],
  ])('that cannot be are refused: %j', (args, message) => {
    expect(() => call('intents.create', ...args)).toThrow(message)
  })

  test('take ids without their options, as an id says what it is of', () => {
    expect(bodyOf('mpp.pay', 'intent_1', 'card_1', '--url', 'https://a.example')).toEqual({
      intentId: 'intent_1',
      cardId: 'card_1',
      url: 'https://a.example',
    })
    expect(call('policies.assign', 'agent_1', 'policy_1')).toMatchObject({
      params: { agentId: 'agent_1' },
      members: { policyId: 'policy_1' },
    })
    expect(call('receipts.list', 'txn_1').query).toEqual({ transactionId: 'txn_1' })
    const given = bodyOf('mpp.pay', '--intentId', 'intent_2', 'card_1', '--url', 'https://a.example')
    expect(given).toMatchObject({ intentId: 'intent_2', cardId: 'card_1' })
    expect(() => bodyOf('mpp.pay', '--intentId', 'intent_2', 'intent_1')).toThrow(
      'mpp pay takes <intentId> [cardId], and not intent_1.',
    )
  })

  test.each([
    [
      'cards.get',
      ['--card-id', 'card_1'],
      /--card-id\. Write <id> without an option: agentpay cards get card_\w+$/,
    ],
    ['cards.get', ['--id=card_1'], /^Unknown option --id\. Write <id> without an option/],
    [
      'policies.assign',
      ['--agentId', 'agent_1', 'policy_1'],
      /Write <agentId> without an option: agentpay policies/,
    ],
    ['transactions.get', ['--transactionId', 'txn_1'], /transactions get txn_\w+$/],
    ['agentTokens.revoke', ['agent_1', '--token-id', 'token_1'], /Write <id> <tokenId> without an option/],
    ['agents.freeze', ['agent_1', '--reson', 'a'], /^Unknown option --reson\. Did you mean --reason\?$/],
    ['cards.get', ['{"cardId":"card_1"}'], /^'\{"cardId":"card_1"\}' is not an id\. For example: card_/],
    [
      'agents.freeze',
      ['agent_1', '{"reason":"a"}'],
      /, and not \{"reason":"a"\}\. Write JSON after --body\.$/,
    ],
    ['intents.list', ['{"agentId":"agent_1"}'], /, and not \{"agentId":"agent_1"\}\.$/],
  ])('say where an id and where JSON is written: %s %j', (key, args, message) => {
    expect(() => call(key, ...args)).toThrow(message)
  })

  test('take the word that another area has for a choice', () => {
    const reasons = ['refunds.create', 'disputes.create'].map(
      key =>
        bodyOf(key, 'txn_1', '--reason', key === 'refunds.create' ? 'not_received' : 'not_delivered')?.reason,
    )
    expect(reasons).toEqual(['not_delivered', 'not_received'])
  })

  test('name the choices of a value that is missing', () => {
    expect(() => call('cards.create', '--usage')).toThrow('--usage needs one of single, multi.')
  })

  test('name what is missing, with an example', () => {
    expect(() => call('agents.get')).toThrow(/^agents get needs <id>\. The agent’s id\. For example: agent_/)
    expect(() => call('agents.get', '..')).toThrow("'..' is not an id. For example: agent_")
    expect(() => call('intents.list', '--status', 'aproved')).toThrow(
      /does not take aproved\. Did you mean approved\?/,
    )
  })

  test('carry every amount of whole cents unchanged', () => {
    const number: ValueShape = { types: ['number'], words: 'number' }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000_000_000_000 }), cents => {
        const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
        expect(parseOptionValue(text, number)).toEqual({ value: cents / 100 })
      }),
    )
  })
})

describe('a body that is given whole', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'body.json'), '\uFEFF{"name":"A","metadata":{"a":"1"}}')
  const io = {
    cwd: folder,
    stdin: (async function* () {
      yield '{"name":'
      yield '"B"}'
    })(),
  } as unknown as CommandIo

  test('comes from a file, and members that are given go into it', async () => {
    expect(await assembleBody('@body.json', { metadata: { b: '2' } }, io)).toEqual({
      name: 'A',
      metadata: { a: '1', b: '2' },
    })
  })

  test('comes from standard input', async () => {
    expect(await assembleBody('-', { externalId: 'x' }, io)).toEqual({ name: 'B', externalId: 'x' })
  })

  test.each([
    ['@missing.json', 'missing.json does not exist.'],
    ['@.', '. cannot be read: it is a folder. Name a file.'],
    ['[1]', '--body is not a JSON object. Write one such as {"name":"Reader"}.'],
    ['{', /^--body is not valid JSON: /],
    ['{"metadata":{"a":1e400}}', 'metadata.a has too many digits. Write at most 15, or a string.'],
    [
      '{"metadata":{"a":12345678901234567}}',
      'metadata.a has too many digits. Write at most 15, or a string.',
    ],
  ])('is refused where it is none: %s', async (whole, message) => {
    await expect(assembleBody(whole, undefined, io)).rejects.toThrow(message)
  })
})
