import type { FileTime, Scheme } from '../../ports/sepa-rail.ts'
import { atBankTime, bankDay, bankDayFrom, dayAfter } from '../../values/bank-calendar.ts'

/** An instant payment waits for nobody, on any day; the others for the next of these times of a bank day. */
export function nextFile(scheme: Scheme, at: Date, cutOffs: readonly string[]): FileTime {
  const today = bankDay(at)
  return scheme === 'sct_inst'
    ? { closesAt: at, executeOn: today }
    : nextCutOff(bankDayFrom(today), at, cutOffs)
}

function nextCutOff(day: string, at: Date, cutOffs: readonly string[]): FileTime {
  const times = cutOffs.map(time => atBankTime(day, time))
  const closesAt = times.find(time => time > at)
  return closesAt ? { closesAt, executeOn: day } : nextCutOff(bankDayFrom(dayAfter(day)), at, cutOffs)
}
