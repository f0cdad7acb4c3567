import fc from 'fast-check'
import type { TestService } from '../../support/harness.ts'
import { settleAccount } from './account.ts'
import type { Credential } from './adversary.ts'
import { approvalOf, type Command, ceremonies, commands, Pick } from './commands.ts'
import { isKeptJudged, judge, judgeKept, judgeRoom, judgeSteps } from './oracle.ts'
import { anySetting, LARGE, type Setting, SMALL } from './setting.ts'
import { type Finding, World } from './world.ts'

interface Operation {
  readonly name: string
  readonly numbers: readonly number[]
}

export interface Sequence {
  readonly setting: Setting
  readonly operations: readonly Operation[]
}

const kindsOf: Readonly<Record<Setting['adversary'], readonly Credential['kind'][]>> = {
  owner: ['console', 'key', 'token'],
  approver: ['console', 'key'],
  viewer: ['console'],
  fullKey: ['key', 'token'],
  moneyKey: ['key'],
  policyKey: ['key'],
  token: ['token'],
  delegation: ['token'],
  assistant: ['token'],
}

const callersOf = ({ by = ['console', 'key'] }: Command): readonly Credential['kind'][] => by

const anyOperation = ({ adversary }: Setting): fc.Arbitrary<Operation> => {
  const kinds = kindsOf[adversary]
  const callable = Object.entries(commands).filter(([, command]) =>
    callersOf(command).some(kind => kinds.includes(kind)),
  )
  const weighted = callable.map(([name, { weight = 1 }]) => ({ weight, arbitrary: fc.constant(name) }))
  return fc.record({
    name: fc.oneof(...weighted),
    numbers: fc.array(fc.nat({ max: 839 }), { minLength: 8, maxLength: 8 }),
  })
}

export const anySequence: fc.Arbitrary<Sequence> = anySetting.chain(setting =>
  fc.record({
    setting: fc.constant(setting),
    operations: fc.array(anyOperation(setting), { minLength: 1, maxLength: 6, size: 'max' }),
  }),
)

async function carryOut(world: World, { name, numbers }: Operation): Promise<void> {
  const command = commands[name]
  if (!command) throw new Error(`there is no command ${name}`)
  const pick = new Pick(numbers)
  const able = world.credentials.filter(({ kind }) => callersOf(command).includes(kind))
  const credential = pick.of(able.toReversed())
  if (!credential) return
  const ceremony = ceremonies[name]
  if (ceremony) return ceremony(world, credential)
  const input = await command.input(world, pick)
  if (!input) return
  const times = command.times?.(pick) ?? 1
  for (let time = 0; time < times; time++) {
    const answer = await world.act(credential, name, input)
    if (answer.error !== undefined) return
    await command.learn?.({ world, credential, answer, input })
  }
}

/** Tries to spend the large amount, in each way that there is: what a state lets someone do shows when they do it. */
async function tryToSpend(world: World): Promise<void> {
  const { account, known } = world
  const { beneficiaryId, card } = account
  const declare = (by: Credential, amountEuros: number, merchant: string, agentId = account.agentId) =>
    world.act(by, 'intents.create', { body: { agentId, amountEuros, merchant, purpose: 'A paper' } })
  for (const by of world.credentials.slice(-4)) {
    for (const fromWalletId of by.kind === 'token' ? [] : known.wallets) {
      const body = { fromWalletId, beneficiaryId, amountEuros: LARGE }
      if (!world.hasPaidOutside) await world.act(by, 'transfers.create', { body })
    }
    for (const agentId of by.kind === 'token' ? [account.agentId] : known.agents) {
      const large = await declare(by, LARGE, 'A large shop', agentId)
      if (large.body?.status === 'created') await approveAlone(world, large.body.id)
    }
    if (by.kind !== 'token' || by.tools) continue
    if (!card) continue
    const small = await declare(by, SMALL, 'A small shop')
    if (small.body?.status !== 'approved') continue
    const body = { intentId: small.body.id, purpose: 'Pay', fillerKeyId: card.fillerKeyId }
    await world.act(by, 'accessEvents.access', { params: { id: card.id }, body })
  }
  if (!isKeptJudged(world)) await approveAlone(world, account.waiting.id)
}

async function approveAlone(world: World, id: string): Promise<void> {
  for (const [place] of (world.persons.length > 0 ? world.persons : [undefined]).entries()) {
    const input = await approvalOf(world, id, new Pick([place]))
    const by = world.credentials.find(({ kind }) => kind !== 'token')
    if (input && by) await world.act(by, 'intents.approve', input)
  }
}

export interface Outcome {
  readonly findings: readonly Finding[]
  /** What was asked for and answered, in order. */
  readonly steps: readonly string[]
  /** The operations of the sequence that were carried out. */
  readonly done: ReadonlySet<string>
}

type Act = (world: World) => Promise<unknown>

/** Carries out acts in a new account, then tries to spend, and says what was found. */
export async function followActs(
  service: TestService,
  setting: Setting,
  acts: readonly Act[],
): Promise<Outcome> {
  const world = await World.of(await settleAccount(service, setting), { service, judge })
  for (const act of acts) await act(world)
  const done = new Set(world.done)
  await judgeSteps(world)
  await tryToSpend(world)
  await judgeKept(world)
  await judgeRoom(world)
  return { findings: world.findings, steps: world.steps, done }
}

export const follow = (service: TestService, { setting, operations }: Sequence): Promise<Outcome> =>
  followActs(
    service,
    setting,
    operations.map(operation => world => carryOut(world, operation)),
  )
