import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type ApprovalStep, isStepAsked } from '../../values/approval-steps.ts'
import { addMs, minutes } from '../../values/clock.ts'
import type { Cents } from '../../values/money.ts'

/** A person who may approve: active, and with a role that may. */
export interface Approver {
  readonly id: string
  readonly role: 'owner' | 'approver'
  /** The people whose deputy this person is now. */
  readonly standsInFor?: readonly string[]
}

interface GivenApproval {
  /** The signer. */
  readonly personId: string
  /** The person whose approval it is, where a deputy signed. */
  readonly inPlaceOf?: string
  /** The role of the person whose approval it is. */
  readonly role: Approver['role']
  readonly at: string
}

/**
 * How far the approvals of a request have come. It is stored as JSON, with ISO instants.
 *
 * A step that ends incomplete with `next` passes its open approvals on: they may then also come from the people of the next
 * step. `reaches` says for each step up to which one its people reach; null: it is not asked.
 */
export interface ApprovalProgress {
  readonly steps: readonly ApprovalStep[]
  /** Who made the request: their approvals do not count. */
  readonly requesters: readonly string[]
  /** What the commitments of all statements about it are salted with, so that each person signs the same. */
  readonly salt: string
  /** The step whose time runs. */
  readonly position: number
  readonly reaches: readonly (number | null)[]
  readonly beganAt: string
  /** The reminders that were sent since then. */
  readonly reminders: number
  readonly given: readonly GivenApproval[]
  /**
   * The policy of each step, by its place, where policies together decide about a change: all steps are asked from the
   * beginning. An approval counts in each policy, and there in one step.
   */
  readonly policies?: readonly number[]
}

/** `denied` by a step that was not complete in time, or that too few people are left for. */
export type ApprovalOutcome = 'open' | 'approved' | 'denied'

export interface Circumstances {
  readonly approvers: readonly Approver[]
  readonly now: Date
}

const stepAt = ({ steps }: Pick<ApprovalProgress, 'steps'>, position: number): ApprovalStep => {
  const step = steps[position]
  if (!step) throw new Error(`there is no step of approval ${position}`)
  return step
}

const newSalt = (): string => randomBytes(16).toString('base64url')

/** Undefined if no step is asked for this amount. */
export function beginApproval(
  steps: readonly ApprovalStep[],
  amount: Cents,
  { now, requesters }: { readonly now: Date; readonly requesters: readonly string[] },
): ApprovalProgress | undefined {
  const position = steps.findIndex(step => isStepAsked(step, amount))
  if (position < 0) return undefined
  const isFirst = (place: number) => place === position
  return {
    steps,
    requesters,
    salt: newSalt(),
    position,
    reaches: steps.map((_, place) => (isFirst(place) ? place : null)),
    beganAt: now.toISOString(),
    reminders: 0,
    given: [],
  }
}

/** The steps of each of several policies. */
export type PolicySteps = readonly (readonly ApprovalStep[])[]

/** Asks the people of all steps of each policy at once; there is at least one step. */
export const beginChange = (policies: PolicySteps, { approvers, now }: Circumstances): ApprovalProgress => ({
  requesters: [],
  salt: newSalt(),
  beganAt: now.toISOString(),
  reminders: 0,
  given: [],
  ...askOfChange(policies, approvers),
})

/** What was approved is kept: the caller drops what the present policies and people do not accept. */
export const askAnew = (
  progress: ApprovalProgress,
  policies: PolicySteps,
  approvers: readonly Approver[],
): ApprovalProgress => ({ ...progress, ...askOfChange(policies, approvers) })

function askOfChange(policies: PolicySteps, approvers: readonly Approver[]) {
  const reaches = policies.flatMap((steps, policy) => {
    const first = policies.slice(0, policy).flat().length
    return reachesOfAll(steps, approvers).map(to => first + to)
  })
  const ofPolicies = policies.flatMap((steps, policy) => steps.map(() => policy))
  return { steps: policies.flat(), policies: ofPolicies, position: reaches.length - 1, reaches }
}

/**
 * Up to which step the people of each may approve, for an amount above all of them: as of a payment, those of the next step
 * stand in where too few are left and the step says so.
 */
function reachesOfAll(steps: readonly ApprovalStep[], people: readonly Approver[]): readonly number[] {
  let reaches: number[] = []
  for (const [place, { then }] of steps.entries()) {
    reaches.push(place)
    const isEnough = assign({ steps, reaches }, people).every(Boolean)
    if (!isEnough && then === 'next') reaches = reaches.map(to => (to === place ? place + 1 : to))
  }
  return reaches
}

/** All of it is asked anew: what was approved is no longer what people have seen. */
export function restartApproval(progress: ApprovalProgress, amount: Cents, now: Date): ApprovalProgress {
  const { steps, requesters, salt } = progress
  const anew = beginApproval(steps, amount, { now, requesters })
  if (!anew) throw new Error('no step of approval is asked for this amount')
  return { ...anew, salt }
}

/**
 * The same approvals under steps that ask no less than those before, each at its place. Who stood in for the people of a step that
 * now denies no longer does.
 */
export function tightenApproval(
  progress: ApprovalProgress,
  steps: readonly ApprovalStep[],
  amount: Cents,
): ApprovalProgress {
  const { position, reaches } = progress
  const reachOf = (step: ApprovalStep, from: number): number | null => {
    if (from > position || !isStepAsked(step, amount)) return null
    let to = from
    while (to < (reaches[from] ?? from) && stepAt({ steps }, to).then === 'next') to++
    return to
  }
  return { ...progress, steps, reaches: steps.map(reachOf) }
}

export const isAskedBy = ({ of }: ApprovalStep, { id, role }: Approver): boolean => {
  if (of === 'owners') return role === 'owner'
  return of === 'approvers' || of.includes(id)
}

/** The people who count: those who made the request do not. */
const countingApprovers = (
  { requesters }: ApprovalProgress,
  approvers: readonly Approver[],
): readonly Approver[] => approvers.filter(({ id }) => !requesters.includes(id))

/** One approval that a step needs, with the steps whose people may give it. */
interface NeededApproval {
  readonly from: number
  readonly to: number
}

type Asked = Pick<ApprovalProgress, 'steps' | 'reaches'>

const neededApprovals = ({ steps, reaches }: Asked): NeededApproval[] =>
  steps.flatMap((step, from) => {
    const to = reaches[from] ?? null
    return to === null ? [] : Array.from({ length: step.need }, () => ({ from, to }))
  })

const mayGive = ({ steps }: Asked, { from, to }: NeededApproval, approver: Approver): boolean =>
  steps.slice(from, to + 1).some(step => isAskedBy(step, approver))

/** Gives as many needed approvals as possible to the people, one each: the person of each, or undefined. */
function assign(asked: Asked, people: readonly Approver[]): (Approver | undefined)[] {
  const needed = neededApprovals(asked)
  const assigned: (Approver | undefined)[] = needed.map(() => undefined)
  const place = (person: Approver, tried: Set<number>): boolean =>
    needed.some((one, index) => {
      if (tried.has(index) || !mayGive(asked, one, person)) return false
      tried.add(index)
      const holder = assigned[index]
      if (holder && !place(holder, tried)) return false
      assigned[index] = person
      return true
    })
  for (const person of people) place(person, new Set())
  return assigned
}

/** How many of the approvals that these steps need these people can give, each of them one. */
export const mostApprovals = (steps: readonly ApprovalStep[], people: readonly Approver[]): number =>
  assign({ steps, reaches: steps.map((_, place) => place) }, people).filter(Boolean).length

/** Policies in which the same approval may count have each their own assignment. */
function assignedApart(progress: ApprovalProgress): readonly Asked[] {
  const { steps, reaches, policies } = progress
  if (!policies) return [progress]
  return [...new Set(policies)].map(policy => ({
    steps,
    reaches: reaches.map((to, place) => (policies[place] === policy ? to : null)),
  }))
}

const countOf = (progress: ApprovalProgress, people: readonly Approver[]): number =>
  assignedApart(progress).reduce((sum, one) => sum + assign(one, people).filter(Boolean).length, 0)

/** The person whose approval it is: who signed, or whom the signer stands in for. */
const seatOf = ({ personId, inPlaceOf }: GivenApproval): string => inPlaceOf ?? personId

const giverOf = (given: GivenApproval): Approver => ({ id: seatOf(given), role: given.role })

/**
 * What was approved counts while both who signed and whose approval it is may approve, and a step asks the latter: with
 * another role, a person may be asked by none.
 */
const countingApprovals = (
  progress: ApprovalProgress,
  approvers: readonly Approver[],
): readonly GivenApproval[] => {
  const able = new Map(countingApprovers(progress, approvers).map(person => [person.id, person]))
  const given = progress.given.flatMap(one => {
    const person = able.get(seatOf(one))
    return person && able.has(one.personId) ? { ...one, role: person.role } : []
  })
  const people = given.map(giverOf)
  const counting = new Set(assignedApart(progress).flatMap(one => assign(one, people)))
  return given.filter((_, place) => counting.has(people[place]))
}

/** The people whose approvals are given, by themselves or by a deputy. */
const giversOf = (progress: ApprovalProgress, approvers: readonly Approver[]): readonly Approver[] =>
  countingApprovals(progress, approvers).map(giverOf)

export interface ApprovalCount {
  readonly given: number
  readonly needed: number
}

/** Over the steps asked so far. */
export const countApprovals = (
  progress: ApprovalProgress,
  approvers: readonly Approver[],
): ApprovalCount => ({
  given: countOf(progress, giversOf(progress, approvers)),
  needed: neededApprovals(progress).length,
})

const isComplete = (progress: ApprovalProgress, approvers: readonly Approver[]): boolean => {
  const { given, needed } = countApprovals(progress, approvers)
  return given === needed
}

/** Whether there are still enough people. Who has signed in place of another person does not approve once more. */
export const isPossible = (progress: ApprovalProgress, approvers: readonly Approver[]): boolean => {
  const givers = giversOf(progress, approvers)
  const others = countingApprovers(progress, approvers).filter(({ id }) => !isGiven(progress, id))
  return countOf(progress, [...givers, ...others]) === neededApprovals(progress).length
}

/**
 * Whose approval a signature of this person would be now: their own if they are asked, else that of the first whom
 * they stand in for and who is asked. Undefined if it would not count.
 */
function seatFor(
  progress: ApprovalProgress,
  approvers: readonly Approver[],
  { id, standsInFor = [] }: Approver,
): string | undefined {
  const givers = giversOf(progress, approvers)
  const counting = countingApprovers(progress, approvers)
  const count = countOf(progress, givers)
  const isOpen = (seat: string): boolean => {
    const person = counting.find(one => one.id === seat)
    return person !== undefined && !isGiven(progress, seat) && countOf(progress, [...givers, person]) > count
  }
  return [id, ...standsInFor].find(isOpen)
}

/** Whether the person has approved, in the place of another or by a deputy as well. */
const isGiven = ({ given }: ApprovalProgress, id: string): boolean =>
  given.some(one => one.personId === id || seatOf(one) === id)

export type WhyNotAsked = 'requester' | 'given' | 'not_asked'

/** Why an approval of this person would not count now; undefined if it would. */
export function whyNotAsked(
  progress: ApprovalProgress,
  approvers: readonly Approver[],
  personId: string,
): WhyNotAsked | undefined {
  if (progress.requesters.includes(personId)) return 'requester'
  if (progress.given.some(one => one.personId === personId)) return 'given'
  const person = approvers.find(({ id }) => id === personId)
  if (!person) return 'not_asked'
  if (seatFor(progress, approvers, person) !== undefined) return undefined
  if (isGiven(progress, personId)) return 'given'
  const { standsInFor = [] } = person
  if (standsInFor.some(one => progress.requesters.includes(one))) return 'requester'
  return standsInFor.some(one => isGiven(progress, one)) ? 'given' : 'not_asked'
}

/** Whether it can go on before the clock says so: because people have left, and approvals with them. */
export const hasLostApprovers = (progress: ApprovalProgress, approvers: readonly Approver[]): boolean =>
  countingApprovals(progress, approvers).length < progress.given.length || !isPossible(progress, approvers)

/** Keeps only approvals that count: not of people who have left, or whom no step asks any more. */
export const dropApprovals = (
  progress: ApprovalProgress,
  approvers: readonly Approver[],
): ApprovalProgress => {
  const given = countingApprovals(progress, approvers)
  return isDeepStrictEqual(given, progress.given) ? progress : { ...progress, given }
}

/** The caller knows that an approval of this person counts. */
export function giveApproval(
  progress: ApprovalProgress,
  approvers: readonly Approver[],
  { personId, now }: { readonly personId: string; readonly now: Date },
): ApprovalProgress {
  const person = approvers.find(({ id }) => id === personId)
  const seat = person && seatFor(progress, approvers, person)
  const giver = approvers.find(({ id }) => id === seat)
  if (!giver) throw new Error(`an approval of ${personId} does not count`)
  const { id, role } = giver
  const inPlaceOf = id === personId ? {} : { inPlaceOf: id }
  return { ...progress, given: [...progress.given, { personId, ...inPlaceOf, role, at: now.toISOString() }] }
}

/**
 * The roles and people of the steps so far who can approve now, so that it counts: also those of an earlier step, where what
 * was given in it counts in a later one.
 */
export function awaitedBy(progress: ApprovalProgress, approvers: readonly Approver[]): string[] {
  const { steps, position } = progress
  const givers = giversOf(progress, approvers)
  const count = countOf(progress, givers)
  const adds = (person: Approver): boolean => countOf(progress, [...givers, person]) > count
  const able = countingApprovers(progress, approvers).filter(
    person => !isGiven(progress, person.id) && adds(person),
  )
  // An owner who is asked as such is no reason to ask approvers.
  const isAwaited = (one: string): boolean => {
    if (one === 'approvers') return able.length > 0 && adds({ id: one, role: 'approver' })
    return able.some(({ id, role }) => id === one || (one === 'owners' && role === 'owner'))
  }
  return [...new Set(steps.slice(0, position + 1).flatMap(({ of }) => of))].filter(isAwaited)
}

export const stepEndsAt = (progress: ApprovalProgress): Date =>
  addMs(new Date(progress.beganAt), minutes(stepAt(progress, progress.position).withinMinutes))

/** At half of the time, and an hour before its end, each once. */
function remindersOf(progress: ApprovalProgress): Date[] {
  const began = new Date(progress.beganAt)
  const { withinMinutes } = stepAt(progress, progress.position)
  const half = addMs(began, minutes(withinMinutes) / 2)
  const hourBefore = addMs(stepEndsAt(progress), -minutes(60))
  return hourBefore > half ? [half, hourBefore] : [half]
}

/** What the clock brings next. */
export function nextOfApproval(progress: ApprovalProgress): {
  readonly at: Date
  readonly what: 'remind' | 'end'
} {
  const reminder = remindersOf(progress)[progress.reminders]
  return reminder ? { at: reminder, what: 'remind' } : { at: stepEndsAt(progress), what: 'end' }
}

/** Marks the reminders that are due as sent; undefined if none is. Several that are late are one. */
export function remindOfApproval(progress: ApprovalProgress, now: Date): ApprovalProgress | undefined {
  const due = remindersOf(progress).filter(at => at <= now).length
  return due > progress.reminders && stepEndsAt(progress) > now ? { ...progress, reminders: due } : undefined
}

const moveTo = (
  progress: ApprovalProgress,
  position: number,
  { now, reaches }: { readonly now: Date; readonly reaches: readonly (number | null)[] },
): ApprovalProgress => ({ ...progress, position, reaches, beganAt: now.toISOString(), reminders: 0 })

/** The next step, if the amount exceeds it. */
function beginNextStep(progress: ApprovalProgress, amount: Cents, now: Date): ApprovalProgress | undefined {
  const { position, reaches, steps } = progress
  const next = steps.findIndex((step, place) => place > position && isStepAsked(step, amount))
  if (next < 0) return undefined
  return moveTo(progress, next, { now, reaches: reaches.map((to, place) => (place === next ? next : to)) })
}

/** Asks the people of the next step as well; for its own approvals only if the amount exceeds it. */
function escalate(progress: ApprovalProgress, amount: Cents, now: Date): ApprovalProgress {
  const { position, reaches } = progress
  const next = position + 1
  const own = isStepAsked(stepAt(progress, next), amount) ? next : null
  const passed = reaches.map(to => (to === position ? next : to))
  return moveTo(progress, next, { now, reaches: passed.map((to, place) => (place === next ? own : to)) })
}

export interface ApprovalAdvance {
  readonly progress: ApprovalProgress
  readonly outcome: ApprovalOutcome
  readonly hasEscalated: boolean
}

/** Goes on as far as approvals, people and the clock allow. */
export function advanceApproval(
  start: ApprovalProgress,
  amount: Cents,
  { approvers, now }: Circumstances,
): ApprovalAdvance {
  let progress = start
  let hasEscalated = false
  const at = (outcome: ApprovalOutcome): ApprovalAdvance => ({ progress, outcome, hasEscalated })
  // Each turn moves to a later step, or ends.
  while (true) {
    if (isComplete(progress, approvers)) {
      const next = beginNextStep(progress, amount, now)
      if (!next) return at('approved')
      progress = next
    } else if (stepEndsAt(progress) > now && isPossible(progress, approvers)) return at('open')
    else if (stepAt(progress, progress.position).then === 'deny') return at('denied')
    else {
      progress = escalate(progress, amount, now)
      hasEscalated = true
    }
  }
}
