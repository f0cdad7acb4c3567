import { describe, expect, test } from '@jest/globals'
import { startTestService } from '../../support/harness.ts'
import { policySteps, RULES } from './account.ts'
import type { Answer, Input } from './adversary.ts'
import { followActs } from './sequence.ts'
import type { Setting, Step } from './setting.ts'
import type { World } from './world.ts'

const service = await startTestService()

const usual: Setting = {
  adversary: 'owner',
  steps: [{ above: 20, of: 'owners', need: 2 }],
  tokenMaximum: 12,
  isCardLimited: true,
  hasLooseAgent: false,
  hasReserve: false,
}

type Act = (world: World) => Promise<unknown>

const act =
  (name: string, input: (world: World) => Input): ((world: World) => Promise<Answer>) =>
  world => {
    const [first] = world.credentials
    if (!first) throw new Error('the adversary has no credential')
    return world.act(first, name, input(world))
  }

const replace = (steps: readonly Step[], changed: object = {}): Act =>
  act('policies.replace', ({ account: { policyId, members } }) => ({
    params: { id: policyId },
    body: { ...RULES, approval: policySteps(steps, members).map(step => ({ ...step, ...changed })) },
  }))

const toReserve = act('transfers.create', ({ account: { walletId, reserveId } }) => ({
  body: { fromWalletId: walletId, toWalletId: reserveId, amountEuros: 90 },
}))

/** With the money of the first agent. */
const newAgent: Act = async world => {
  const { account, known } = world
  const answer = await act('agents.create', () => ({ body: { name: 'Another agent', policyId: null } }))(
    world,
  )
  if (answer.error !== undefined) return
  known.agents.push(answer.body.id)
  await act('agents.fund', () => ({
    params: { id: answer.body.id },
    body: { fromWalletId: account.walletId, amountEuros: 500 },
  }))(world)
}

const deleteAgent = act('agents.delete', ({ account: { agentId } }) => ({ params: { id: agentId } }))

const cancelWaiting = act('intents.cancel', ({ account: { waiting } }) => ({ params: { id: waiting.id } }))

const twoPeople: Step = { above: 20, of: ['bob', 'cem'], need: 2 }

const naming = (name: 'gone' | 'nobody'): Act =>
  act('policies.create', ({ account: { members } }) => ({
    body: {
      ...RULES,
      approval: policySteps([{ ...twoPeople, of: ['bob', 'cem', NOBODY[name]] }], members),
    },
  }))

const NOBODY = { gone: 'gone', nobody: 'person_00000000000000000000000000' }

const remove = (name: 'bob' | 'cem'): Act =>
  act('people.remove', ({ account: { members } }) => ({ params: { id: members[name].id } }))

const times = (count: number, one: Act): Act[] => Array.from({ length: count }, () => one)

type Way = readonly [setting: Partial<Setting>, ...acts: readonly Act[]]

/** The shortest sequences by which someone once spent alone, or kept others from deciding. */
const ways: Readonly<Record<string, Way>> = {
  'whom only the last step names, by lifting the others': [
    {
      steps: [
        { above: 20, of: ['bob'], need: 1 },
        { above: 20, of: ['ada'], need: 1 },
      ],
    },
    replace([]),
  ],
  'with a key, through a wallet without an agent': [{ adversary: 'moneyKey', steps: [twoPeople] }, toReserve],
  'with a key, from the wallet of an agent whose policy asks no one': [
    { adversary: 'moneyKey', steps: [twoPeople], hasLooseAgent: true },
  ],
  'with a key, through a new agent whose policy asks no one': [
    { adversary: 'fullKey', steps: [twoPeople] },
    newAgent,
  ],
  'as an owner whom no step names, through a new agent': [{ steps: [twoPeople] }, newAgent],
  'with a key, by the end of the agent whose policy asks': [
    { adversary: 'fullKey', steps: [twoPeople], hasReserve: true },
    cancelWaiting,
    deleteAgent,
  ],
  'as an owner, by taking the role of whom the step asks and the agent then': [
    { steps: [{ above: 20, of: ['bob'], need: 1 }], hasReserve: true },
    act('people.remove', ({ account: { members } }) => ({ params: { id: members.bob.id } })),
    deleteAgent,
  ],
  'with a token, by the data of a card that pays more than its maximum': [
    { adversary: 'token', isCardLimited: false },
  ],
  'who asks with a key of their own and approves': [{ steps: [{ above: 20, of: ['ada', 'bob'], need: 1 }] }],
  'by a step that names no one': [{ adversary: 'policyKey' }, naming('nobody')],
  'by a step that names a person who has gone': [{ adversary: 'policyKey' }, naming('gone')],
  'by removing a person who is awaited': [
    { steps: [{ above: 20, of: ['ada', 'bob', 'cem'], need: 2 }] },
    remove('cem'),
  ],
  'with a key, by proposing so much that no one else can': [
    { adversary: 'policyKey' },
    ...times(21, replace([])),
  ],
  'with a key, by tightening until what others approved is dropped': [
    { adversary: 'policyKey', steps: [twoPeople] },
    replace([twoPeople], { withinMinutes: 59 }),
  ],
}

describe('no one spends alone what others must approve', () => {
  test.each(Object.entries(ways))('%s', async (_, [setting, ...acts]) => {
    const { findings, steps } = await followActs(service, { ...usual, ...setting }, acts)
    expect(findings.length > 0 ? [...findings, ...steps] : []).toEqual([])
    expect(steps).not.toEqual([])
  })
})
