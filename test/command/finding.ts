import { describe, expect, test } from '@jest/globals'
import { nearestName } from '../../src/values/nearest.ts'
import { runCommand } from '../support/command.ts'

describe('a command line', () => {
  test.each([
    [['intnets', 'list'], 'There is no command intnets. Did you mean intents? See: agentpay --help\n'],
    [
      ['agentTokens', 'list'],
      'There is no command agentTokens. Did you mean agent-tokens? See: agentpay --help\n',
    ],
    [['intents', 'lits'], 'intents has no command lits. Did you mean list? See: agentpay intents --help\n'],
    [['intents', 'constructor'], 'intents has no command constructor. See: agentpay intents --help\n'],
    [['__proto__'], 'There is no command __proto__. See: agentpay --help\n'],
    [['verson'], 'There is no command verson. Did you mean version? See: agentpay --help\n'],
    [
      ['intents', 'create', '--amountEuros', '1'],
      'intents create needs --purpose. See: agentpay intents create --help\n',
    ],
    [
      ['cards', 'create'],
      'cards create needs <agentId>, --usage (single, multi). See: agentpay cards create --help\n',
    ],
    [['agents', 'get', 'a', '--all'], 'agents get has no pages. Omit --all.\n'],
    [['agents', 'get', 'a', '--body', '{}'], 'agents get takes no body. Omit it.\n'],
    [['version', 'a'], 'version takes no arguments, and no a\n'],
    [['completion'], 'completion needs <shell>: bash, zsh or fish.\n'],
  ])('that is not understood ends with 2 and a sentence: %j', async (argv, err) => {
    expect(await runCommand(argv)).toEqual({ code: 2, out: '', err })
  })

  test('may have its options before the noun', async () => {
    expect((await runCommand(['--json', 'version'])).out).toMatch(/^\{\n {2}"version": "\d/)
  })

  test('asks for help in each place', async () => {
    const [all, noun, verb] = [['--help'], ['intents', '--help'], ['intents', 'create', '-h']]
    const [words, nounWords, verbWords] = [['help'], ['help', 'intents'], ['help', 'intents', 'create']]
    for (const [one, other] of [
      [all, words],
      [noun, nounWords],
      [verb, verbWords],
    ] as const) {
      const [first, second] = [await runCommand(one), await runCommand(other)]
      expect(first).toEqual({ code: 0, out: second.out, err: '' })
    }
    expect((await runCommand(all)).out).toMatch(/profiles list .*\n.*profiles use /)
    expect((await runCommand(noun)).out).toMatch(/create .*Declare an intent to spend/)
    const { out } = await runCommand(verb)
    expect(out).toMatch(/--amountEuros .*required/)
    expect(out).toContain('agentpay intents create agent_')
    expect(out).toMatch(/404 agent_not_found +No such agent\./)
    expect((await runCommand([])).out).toBe((await runCommand(all)).out)
  })

  test('without its verb shows the verbs, and is no success', async () => {
    const { code, out } = await runCommand(['intents'])
    expect([code, out]).toEqual([2, expect.stringContaining('Declare an intent')])
  })
})

test.each([
  ['lsit', 'list'],
  ['auth', 'authorizations'],
  ['CREATE', 'create'],
  ['xyzzy', undefined],
  ['', undefined],
  ['a'.repeat(10_000), undefined],
])('the name nearest to %.20s is %s', (typed, name) => {
  expect(nearestName(typed, ['create', 'list', 'get', 'authorizations'])).toBe(name)
})
