import {
  advanceApproval,
  approverRefusalCodes,
  askAnew,
  CHANGE_AMOUNT,
  ChangeRequest,
  changeRequestEvent,
  changeRequestMachine,
  changeRequestResponse,
  dropApprovals,
  forgetAddress,
  forgetWrite,
  giveApproval,
  type HoldApproverChange,
  isWaiting,
  KEPT_WRITE_SQL,
  lockWaitingOfAgent,
  type PolicySteps,
  policiesConcerned,
  policiesToAsk,
  readApproversAndDeputies,
  readAskedApprovers,
  whyNotAsked,
} from '../../identity/approvals/index.ts'
import { type DeputyWrite, recordDeputy } from '../../identity/deputies/index.ts'
import { signerOfWidening } from '../../identity/passkeys/index.ts'
import {
  changePerson,
  findPerson,
  inviteByLink,
  makeJoinLink,
  type PersonWrite,
  personEvents,
} from '../../identity/people/index.ts'
import { type ProviderWrite, reconfigureProvider } from '../../identity/sso/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import { area, reaction } from '../../kernel/contract/area.ts'
import { inRange } from '../../kernel/contract/conditions.ts'
import type { EmitContext, ReadContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers, type ContextOf, DONE } from '../../kernel/contract/operation.ts'
import { Accepted, Refusal } from '../../kernel/contract/problem.ts'
import { definedOnly, FOR_UPDATE, FOR_UPDATE_BY_ID, withMembers } from '../../kernel/database/entity.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { requireFirst } from '../../values/collections.ts'
import { AgentEvent } from '../agents/index.ts'
import { carryOutPolicyWrite, type Hold, type PolicyWrite } from '../policies/index.ts'
import { changeRequestsApi } from './api.ts'

/** Changes of who approves name people and their addresses: only who may read people sees them. */
const visibleTo = ({ scopes }: Actor) => (scopes.has('people:read') ? {} : { policyId: { $ne: null } })

const lockChange = (id: string, { em, actor }: { readonly em: EntityManager; readonly actor: Actor }) =>
  em.findOne(ChangeRequest, { id, ...visibleTo(actor) }, FOR_UPDATE)

type Approving = ContextOf<typeof changeRequestsApi.approve>

/** Under the locks of what is changed: counts the person who has signed, or says why the change is not made yet. */
type CountSigner = (
  present: readonly StatedWidening[],
  policies: PolicySteps,
) => Promise<Refusal | Accepted | undefined>

/** Carries out what was kept, as the noun of its operation does, once the present policies have the people they ask. */
async function carriedOut(change: ChangeRequest, count: CountSigner, context: Approving) {
  const asSigned: HoldApproverChange = async ({ concerns, changes }) =>
    count(changes, await policiesConcerned(concerns, context))
  const policyAsSigned: Hold = async (policies, compare) =>
    count(await compare(), policiesToAsk(policies.map(({ approval }) => approval)))
  // Each noun keeps the members of its own writes.
  const write = change.write as PolicyWrite | PersonWrite | DeputyWrite | ProviderWrite
  switch (write.operation) {
    case 'people.create':
      return inviteByLink(write, asSigned, context)
    case 'people.update':
      return changePerson(write, asSigned, context)
    case 'people.link':
      return makeJoinLink(write, asSigned, context)
    case 'deputies.create':
      return recordDeputy(write, asSigned, context)
    case 'sso.update':
      return reconfigureProvider(write, asSigned, context)
    default:
      return carryOutPolicyWrite(write, policyAsSigned, context)
  }
}

type CarriedOut = Awaited<ReturnType<typeof carriedOut>>

/** Why it can never be carried out; undefined: it was, or waits for others. */
function refusalOf(done: CarriedOut, { refuse }: Approving): Refusal | undefined {
  if (done instanceof Refusal) return done
  if (typeof done === 'string') return refuse('change_request_outdated')
  return Array.isArray(done) ? refuse('change_request_outdated', done[1]) : undefined
}

/** The link of an invitation, if it has not been sent to the person. */
function joinUrlOf(done: CarriedOut, { write }: ChangeRequest): string | null {
  const isSent = 'send' in write && write.send === 'email'
  return typeof done === 'object' && 'url' in done && !isSent ? done.url : null
}

function endChange(
  change: ChangeRequest,
  status: 'applied' | 'rejected' | 'outdated',
  reason: string | null,
  { emit }: EmitContext<Pick<(typeof changeRequestsApi.reject)['emits'], 'change_request.ended'>>,
): void {
  changeRequestMachine.move(change, status)
  change.reason = reason
  forgetWrite(change)
  if (status !== 'applied') forgetAddress(change)
  emit('change_request.ended', changeRequestEvent(change))
}

/**
 * Counts the signature by the policies and people of now: what others have signed is kept as far as these accept it. With the
 * last one the change is made.
 */
async function approveChange(
  change: ChangeRequest,
  signerId: string,
  context: Approving,
): Promise<Refusal | string | null> {
  const { sql, tenant, now, emit, refuse } = context
  let uncounted: Refusal | undefined
  const count: CountSigner = async (present, policies) => {
    if (canonicalJson(present) !== canonicalJson(change.changes)) return refuse('change_request_outdated')
    const approvers = await readApproversAndDeputies(sql, { tenant, now })
    const { approval } = change
    const asked = policies.length > 0 ? askAnew(approval, policies, approvers) : approval
    const progress = dropApprovals(asked, approvers)
    const why = whyNotAsked(progress, approvers, signerId)
    if (why) {
      uncounted = refuse(approverRefusalCodes[why])
      return uncounted
    }
    change.approval = giveApproval(progress, approvers, { personId: signerId, now })
    const { outcome } = advanceApproval(change.approval, CHANGE_AMOUNT, { approvers, now })
    return outcome === 'approved' ? undefined : new Accepted(change)
  }
  const done = await carriedOut(change, count, context)
  if (uncounted) return uncounted
  if (done instanceof Accepted) {
    emit('change_request.approved', changeRequestEvent(change))
    return null
  }
  const refusal = refusalOf(done, context)
  const joinUrl = joinUrlOf(done, change)
  endChange(change, refusal ? 'outdated' : 'applied', refusal?.message ?? null, context)
  return refusal ?? joinUrl
}

const whereStatus = (status: ChangeRequest['status'] | 'expired' | undefined, now: Date) => {
  if (status === 'waiting') return { status, expiresAt: inRange({ gt: now }) }
  return status === 'expired'
    ? { status: 'waiting' as const, expiresAt: inRange({ lte: now }) }
    : definedOnly({ status })
}

async function shown(changes: readonly ChangeRequest[], context: ReadContext) {
  const approvers = await readAskedApprovers(changes, changeRequestMachine.initial, context)
  return changes.map(change => changeRequestResponse(change, { approvers, now: context.now }))
}

const shownOne = async (change: ChangeRequest, context: ReadContext) =>
  requireFirst(await shown([change], context))

export const changeRequestHandlers = bindHandlers(changeRequestsApi, {
  async list({ query: { status, agentId } }, context) {
    const { page, actor, now } = context
    const where = { ...visibleTo(actor), ...whereStatus(status, now), ...definedOnly({ agentId }) }
    const changes = await page(ChangeRequest, where)
    return { ...changes, data: await shown(changes.data, context) }
  },

  async get({ params }, context) {
    const { em, actor, refuse } = context
    const change = await em.findOne(ChangeRequest, { id: params.id, ...visibleTo(actor) })
    return change ? shownOne(change, context) : refuse('change_request_not_found')
  },

  async approve({ params, body }, context) {
    const { now, refuse } = context
    const change = await lockChange(params.id, context)
    if (!change) return refuse('change_request_not_found')
    if (!isWaiting(change, now)) return refuse('change_request_over')
    if (body.personId !== undefined && !(await findPerson(body.personId, context)))
      return refuse('person_not_found')
    const signer = await signerOfWidening(
      body.webauthnAssertion,
      change.changes,
      body.personId ?? null,
      context,
    )
    if (signer instanceof Refusal) return signer
    const joinUrl = await approveChange(change, signer.id, context)
    if (joinUrl instanceof Refusal) return joinUrl
    return withMembers(await shownOne(change, context), { joinUrl })
  },

  async reject({ params, body }, context) {
    const { now, refuse } = context
    const change = await lockChange(params.id, context)
    if (!change) return refuse('change_request_not_found')
    if (!isWaiting(change, now)) return refuse('change_request_over')
    endChange(change, 'rejected', body.reason, context)
    return shownOne(change, context)
  },

  async expire({ params }, { em, now, refuse }) {
    const change = await em.findOne(ChangeRequest, { id: params.id }, FOR_UPDATE)
    if (!change) return refuse('change_request_not_found')
    if (change.status !== 'waiting' || isWaiting(change, now)) return DONE
    forgetWrite(change)
    forgetAddress(change)
    return DONE
  },
})

/** Changes have no process. One that too few have approved in time stays as it is, but for what was asked for. */
const expiry: Deadline = {
  process: { name: 'change-request' },
  table: 'change_requests',
  due: 'expires_at',
  open: KEPT_WRITE_SQL,
  operations: ['changeRequests.expire'],
}

/**
 * What applies a template changes other agents as well. The deletion has locked the agent, so it does not wait for a change
 * that is being approved: that one is refused as outdated.
 */
const onAgentDeleting = reaction(AgentEvent, changeRequestsApi.reject.emits, async ({ agentId }, context) => {
  const { em, now } = context
  const ids = await lockWaitingOfAgent(agentId, context)
  if (ids.length === 0) return
  const ofAgent = ({ write }: ChangeRequest) => write.operation !== 'policies.apply'
  const changes = (await em.find(ChangeRequest, { id: { $in: ids } })).filter(ofAgent)
  for (const change of changes)
    if (isWaiting(change, now)) endChange(change, 'outdated', 'The agent is being deleted.', context)
})

export const changeRequestsArea = area(
  'Change Requests',
  'Changes of limits and of who approves that wait for several people.',
  changeRequestHandlers,
  {
    machines: [changeRequestMachine],
    entities: [ChangeRequest],
    deadlines: [expiry],
    reactions: {
      'agent.deleting': onAgentDeleting,
      // One that waits is outdated then, and ends without the address.
      'person.removed': reaction(personEvents['person.removed'], {}, async ({ personId }, { em }) => {
        const made = await em.find(ChangeRequest, { personId, status: 'applied' }, FOR_UPDATE_BY_ID)
        for (const change of made) forgetAddress(change)
      }),
    },
  },
)
