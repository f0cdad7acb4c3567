import type { FileTime, Scheme } from '../../ports/sepa-rail.ts'
import { addDays, atBankTime, bankDateOf, bankDayOnOrAfter } from '../../values/bank-calendar.ts'

/** Instant payments go at once, on any day; others wait for the next cut-off time of a bank day. */
export function nextFile(scheme: Scheme, at: Date, cutOffs: readonly string[]): FileTime {
  const today = bankDateOf(at)
  return scheme === 'sct_inst'
    ? { closesAt: at, executeOn: today }
    : nextCutOff(bankDayOnOrAfter(today), at, cutOffs)
}

function nextCutOff(day: string, at: Date, cutOffs: readonly string[]): FileTime {
  const times = cutOffs.map(time => atBankTime(day, time))
  const closesAt = times.find(time => time > at)
  return closesAt ? { closesAt, executeOn: day } : nextCutOff(bankDayOnOrAfter(addDays(day)), at, cutOffs)
}
