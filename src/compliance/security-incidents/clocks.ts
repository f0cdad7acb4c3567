import {
  atBankTime,
  bankDateOf,
  bankDayOnOrAfter,
  bankTimeOf,
  isBankDay,
} from '../../values/bank-calendar.ts'
import { addMs, minutes } from '../../values/clock.ts'

export const reportingClockStages = [
  'classification',
  'initial',
  'intermediate',
  'update',
  'final',
  'data_protection',
] as const
export type ReportingClockStage = (typeof reportingClockStages)[number]

/** The reports that are submitted. An update is an intermediate report, too. */
export const reportStages = [
  'initial',
  'intermediate',
  'final',
  'reclassification',
  'data_protection',
] as const
export type ReportStage = (typeof reportStages)[number]

export type WeekendExtension = 'none' | 'final' | 'all'

export interface ReportingClockInput {
  readonly awareAt: Date
  /** When the incident was classified as major; null if it is not classified yet or not major. */
  readonly classifiedAt: Date | null
  /**
   * How long it was major before it was reclassified as not major, and later as major again. The deadline is
   * that much shorter.
   */
  readonly usedMs: number
  readonly isMajor: boolean | null
  readonly recoveredAt: Date | null
  readonly personalDataAwareAt: Date | null
  readonly reports: readonly { readonly stage: ReportStage; readonly at: Date }[]
}

export interface ReportingClock {
  readonly stage: ReportingClockStage
  readonly beginsAt: Date
  readonly dueAt: Date
  readonly article: string
  readonly isMoved: boolean
  readonly doneAt: Date | null
}

const HOUR = minutes(60)
const REPORTING = 'Delegated Regulation (EU) 2025/301, Article'
const DATA_PROTECTION = 'Regulation (EU) 2016/679, Article 33(1)'

/**
 * The clocks of an incident, in the order in which they begin. Hours count to the minute from the event
 * itself. Regulation (EEC, Euratom) 1182/71 would let some of them end later, so these deadlines are never
 * late.
 */
export function reportingClocks(course: ReportingClockInput, relief: WeekendExtension): ReportingClock[] {
  const clocks = [
    classification(course),
    initial(course, relief),
    intermediate(course, relief),
    update(course),
    final(course, relief),
    dataProtection(course),
  ]
  return clocks.filter(clock => clock !== null)
}

const times = ({ reports }: ReportingClockInput, stage: ReportStage): number[] =>
  reports.flatMap(report => (report.stage === stage ? [report.at.getTime()] : []))

function firstOf(course: ReportingClockInput, stage: ReportStage): Date | null {
  const all = times(course, stage)
  return all.length > 0 ? new Date(Math.min(...all)) : null
}

function lastOf(course: ReportingClockInput, stage: ReportStage): Date | null {
  const all = times(course, stage)
  return all.length > 0 ? new Date(Math.max(...all)) : null
}

/** A classification after this time leaves only four hours for the initial notification. */
function classification({ isMajor, awareAt }: ReportingClockInput): ReportingClock | null {
  if (isMajor !== null) return null
  const dueAt = addMs(awareAt, 24 * HOUR)
  return clockOf('classification', awareAt, dueAt, `${REPORTING} 5(1)(a)`, null)
}

function initial(course: ReportingClockInput, relief: WeekendExtension): ReportingClock | null {
  const { awareAt, classifiedAt, usedMs } = course
  if (!isReported(course) || !classifiedAt) return null
  const left = Math.max(0, 4 * HOUR - usedMs)
  const [ofAwareness, ofClassification] = [addMs(awareAt, 24 * HOUR), addMs(classifiedAt, left)]
  const isLate = classifiedAt > ofAwareness
  const dueAt = isLate || ofClassification < ofAwareness ? ofClassification : ofAwareness
  const article = `${REPORTING} ${isLate ? '5(2)' : '5(1)(a)'}`
  const clock = clockOf('initial', classifiedAt, dueAt, article, firstOf(course, 'initial'))
  return relief === 'all' ? movedToWorkingDay(clock) : clock
}

function intermediate(course: ReportingClockInput, relief: WeekendExtension): ReportingClock | null {
  const submittedAt = firstOf(course, 'initial')
  if (!isReported(course) || !submittedAt) return null
  const dueAt = addMs(submittedAt, 72 * HOUR)
  const doneAt = firstOf(course, 'intermediate')
  const clock = clockOf('intermediate', submittedAt, dueAt, `${REPORTING} 5(1)(b)`, doneAt)
  return relief === 'all' ? movedToWorkingDay(clock) : clock
}

/** Business is back to normal and the last intermediate report does not say so: an updated one is due without delay. */
function update(course: ReportingClockInput): ReportingClock | null {
  const { recoveredAt } = course
  const last = lastOf(course, 'intermediate')
  if (!isReported(course) || !recoveredAt || !last || firstOf(course, 'final')) return null
  return last >= recoveredAt
    ? null
    : clockOf('update', recoveredAt, recoveredAt, `${REPORTING} 5(1)(b)`, null)
}

function final(course: ReportingClockInput, relief: WeekendExtension): ReportingClock | null {
  const last = lastOf(course, 'intermediate')
  if (!isReported(course) || !last) return null
  const dueAt = aMonthAfter(last)
  const clock = clockOf('final', last, dueAt, `${REPORTING} 5(1)(c)`, lastOf(course, 'final'))
  return relief === 'none' ? clock : movedToWorkingDay(clock)
}

/** Applies to major and other incidents alike: only the personal data counts. */
function dataProtection(course: ReportingClockInput): ReportingClock | null {
  const { personalDataAwareAt } = course
  if (!personalDataAwareAt) return null
  const dueAt = addMs(personalDataAwareAt, 72 * HOUR)
  const doneAt = firstOf(course, 'data_protection')
  return clockOf('data_protection', personalDataAwareAt, dueAt, DATA_PROTECTION, doneAt)
}

const isReported = ({ isMajor }: ReportingClockInput): boolean => isMajor === true

const clockOf = (
  stage: ReportingClockStage,
  beginsAt: Date,
  dueAt: Date,
  article: string,
  doneAt: Date | null,
): ReportingClock => ({ stage, beginsAt, dueAt, article, isMoved: false, doneAt })

/** Article 5(4): from a weekend or bank holiday to noon of the next working day. */
function movedToWorkingDay(clock: ReportingClock): ReportingClock {
  const day = bankDateOf(clock.dueAt)
  if (isBankDay(day)) return clock
  const dueAt = atBankTime(bankDayOnOrAfter(day), '12:00')
  return { ...clock, dueAt, isMoved: true, article: `${clock.article} with 5(4)` }
}

/** The same day of the next month, or its last day, at the same time of day in Frankfurt. */
function aMonthAfter(at: Date): Date {
  const [year = 0, month = 0, day = 0] = bankDateOf(at).split('-').map(Number)
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const next = new Date(Date.UTC(year, month, Math.min(day, lastDay))).toISOString().slice(0, 10)
  const withinMinute = at.getTime() % minutes(1)
  return addMs(atBankTime(next, bankTimeOf(at)), withinMinute)
}
