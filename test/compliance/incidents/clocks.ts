import { describe, expect, test } from '@jest/globals'
import {
  type ReportingClock,
  type ReportingClockInput,
  reportingClocks,
  reportStages,
} from '../../../src/compliance/security-incidents/clocks.ts'
import { unsentIncidentReminders } from '../../../src/compliance/security-incidents/reminders.ts'

type Times = Partial<
  Record<'aware' | 'classified' | 'used' | 'recovered' | 'personalData', string> & {
    reports: readonly (readonly [ReportingClockInput['reports'][number]['stage'], string])[]
    relief: 'none' | 'final' | 'all'
  }
>

const dateOr = (text: string | undefined): Date | null => (text === undefined ? null : new Date(text))

const courseOf = ({
  aware,
  classified,
  used,
  recovered,
  personalData,
  reports = [],
}: Times): ReportingClockInput => ({
  awareAt: new Date(aware ?? '2026-03-02T08:00:00Z'),
  classifiedAt: dateOr(classified),
  usedMs: Number(used ?? 0) * 60_000,
  isMajor: classified === undefined ? null : true,
  recoveredAt: dateOr(recovered),
  personalDataAwareAt: dateOr(personalData),
  reports: reports.map(([stage, at]) => ({ stage, at: new Date(at) })),
})

const clockOf = (stage: ReportingClock['stage'], times: Times): ReportingClock | undefined =>
  reportingClocks(courseOf(times), times.relief ?? 'none').find(clock => clock.stage === stage)

/**
 * Each line: its subject; its paragraph; what is due, and until when; and the times in the order of
 * recording. The paragraphs are those of Article 5 of Delegated Regulation (EU) 2025/301: (1)(a) and (2) are
 * about the initial notification, (1)(b) about the intermediate report and its update, (1)(c) about the final
 * one, and (4) to (6) about weekends and bank holidays; 33(1) is of Regulation (EU) 2016/679. Regulation
 * (EEC, Euratom) 1182/71, Article 3(2)(c), says that a month without such a day ends with its last one.
 */
const TABLE = `
four hours after it was classified | 5(1)(a) | initial | 2026-03-02T13:15Z | aware 2026-03-02T08:00Z, classified 2026-03-02T09:15Z
24 hours after awareness where that is sooner | 5(1)(a) | initial | 2026-03-03T08:00Z | aware 2026-03-02T08:00Z, classified 2026-03-03T06:30Z
classified in the last minute of the 24 hours | 5(1)(a) | initial | 2026-03-03T08:00Z | aware 2026-03-02T08:00Z, classified 2026-03-03T08:00Z
classified a minute too late | 5(2) | initial | 2026-03-03T12:01Z | aware 2026-03-02T08:00Z, classified 2026-03-03T08:01Z
classified after 30 hours | 5(2) | initial | 2026-03-03T18:00Z | aware 2026-03-02T08:00Z, classified 2026-03-03T14:00Z
classified again after it had been major for an hour and a half | 5(1)(a) | initial | 2026-03-02T14:30Z | aware 2026-03-02T08:00Z, used 90, classified 2026-03-02T12:00Z
classified again after its four hours were over | 5(2) | initial | 2026-03-04T12:00Z | aware 2026-03-02T08:00Z, used 250, classified 2026-03-04T12:00Z
hours over the beginning of summer time | 5(1)(a) | initial | 2026-03-29T04:30Z | aware 2026-03-28T20:00Z, classified 2026-03-29T00:30Z
not classified yet | 5(1)(a) | classification | 2026-03-03T08:00Z | aware 2026-03-02T08:00Z
72 hours after the initial notification | 5(1)(b) | intermediate | 2026-03-05T10:20Z | classified 2026-03-02T09:00Z, initial 2026-03-02T10:20Z
72 hours over the beginning of summer time | 5(1)(b) | intermediate | 2026-03-30T10:00Z | aware 2026-03-27T08:00Z, classified 2026-03-27T09:00Z, initial 2026-03-27T10:00Z
the initial notification was late itself | 5(1)(b) | intermediate | 2026-03-07T10:00Z | classified 2026-03-02T09:00Z, initial 2026-03-04T10:00Z
business is normal again after the intermediate report | 5(1)(b) | update | 2026-03-05T07:00Z | classified 2026-03-02T09:00Z, recovered 2026-03-05T07:00Z, initial 2026-03-02T10:00Z, intermediate 2026-03-04T10:00Z
a month after the intermediate report | 5(1)(c) | final | 2026-04-04T09:15:30Z | classified 2026-03-02T09:00Z, initial 2026-03-02T10:00Z, intermediate 2026-03-04T10:15:30Z
a month after 31 January | 5(1)(c) | final | 2026-02-28T10:00Z | aware 2026-01-27T08:00Z, classified 2026-01-27T09:00Z, initial 2026-01-28T10:00Z, intermediate 2026-01-31T10:00Z
a month after 31 January of a leap year | 5(1)(c) | final | 2028-02-29T10:00Z | aware 2028-01-27T08:00Z, classified 2028-01-27T09:00Z, initial 2028-01-28T10:00Z, intermediate 2028-01-31T10:00Z
a month over the end of the year | 5(1)(c) | final | 2027-01-04T23:30Z | aware 2026-12-01T08:00Z, classified 2026-12-01T09:00Z, initial 2026-12-01T10:00Z, intermediate 2026-12-04T23:30Z
a month over the end of summer time | 5(1)(c) | final | 2026-11-04T11:00Z | aware 2026-10-01T08:00Z, classified 2026-10-01T09:00Z, initial 2026-10-01T10:00Z, intermediate 2026-10-04T10:00Z
hours over the end of summer time | 5(1)(a) | initial | 2026-10-25T04:30Z | aware 2026-10-24T20:00Z, classified 2026-10-25T00:30Z
72 hours over the end of summer time | 5(1)(b) | intermediate | 2026-10-26T10:00Z | aware 2026-10-23T08:00Z, classified 2026-10-23T09:00Z, initial 2026-10-23T10:00Z
into the hour that the end of summer time repeats: the first one counts | 5(1)(c) | final | 2026-10-25T00:30Z | aware 2026-09-22T08:00Z, classified 2026-09-22T09:00Z, initial 2026-09-22T10:00Z, intermediate 2026-09-25T00:30Z
into the hour that summer time skips | 5(1)(c) | final | 2027-03-28T01:30Z | aware 2027-02-25T08:00Z, classified 2027-02-25T09:00Z, initial 2027-02-25T10:00Z, intermediate 2027-02-28T01:30Z
the last of several intermediate reports counts | 5(1)(c) | final | 2026-04-09T09:00Z | classified 2026-03-02T09:00Z, initial 2026-03-02T10:00Z, intermediate 2026-03-04T10:00Z, intermediate 2026-03-09T10:00Z
also where it was recorded before the earlier one | 5(1)(c) | final | 2026-04-09T09:00Z | classified 2026-03-02T09:00Z, intermediate 2026-03-09T10:00Z, intermediate 2026-03-04T10:00Z, initial 2026-03-02T10:00Z
the first initial notification counts, whatever was recorded first | 5(1)(b) | intermediate | 2026-03-05T10:00Z | classified 2026-03-02T09:00Z, intermediate 2026-03-04T10:00Z, initial 2026-03-02T10:00Z
24 December is a working day, and 5(4) moves nothing | 5(1)(a) | initial | 2026-12-24T12:00Z | relief all, aware 2026-12-24T06:00Z, classified 2026-12-24T08:00Z
25 December moves over the weekend to the 28th | 5(4) | initial | 2026-12-28T11:00Z | relief all, aware 2026-12-24T20:00Z, classified 2026-12-24T22:00Z
26 December, a Saturday | 5(4) | intermediate | 2026-12-28T11:00Z | relief all, aware 2026-12-23T06:00Z, classified 2026-12-23T08:00Z, initial 2026-12-23T09:00Z
27 December, a Monday in 2027, is one too | 5(1)(b) | intermediate | 2027-12-27T09:00Z | relief all, aware 2027-12-24T06:00Z, classified 2027-12-24T08:00Z, initial 2027-12-24T09:00Z
25 to 26 December 2027 move to the 27th | 5(4) | initial | 2027-12-27T11:00Z | relief all, aware 2027-12-24T20:00Z, classified 2027-12-25T01:00Z
a Saturday in summer: noon by the clock of Frankfurt | 5(4) | initial | 2026-07-06T10:00Z | relief all, aware 2026-07-04T06:00Z, classified 2026-07-04T08:00Z
Good Friday moves over Easter Monday | 5(4) | initial | 2026-04-07T10:00Z | relief all, aware 2026-04-03T06:00Z, classified 2026-04-03T08:00Z
late on Friday by UTC, on Saturday in Frankfurt | 5(4) | initial | 2026-07-06T10:00Z | relief all, aware 2026-07-03T17:00Z, classified 2026-07-03T18:30Z
a credit institution has no relief for the first two, by 5(5) | 5(1)(a) | initial | 2026-07-04T12:00Z | relief final, aware 2026-07-04T06:00Z, classified 2026-07-04T08:00Z
but it has it for the final report, by 5(5) | 5(4) | final | 2026-04-07T10:00Z | relief final, classified 2026-03-02T09:00Z, initial 2026-03-02T10:00Z, intermediate 2026-03-04T10:00Z
where the authority has taken the relief away, by 5(6) | 5(1)(c) | final | 2026-04-04T09:00Z | relief none, classified 2026-03-02T09:00Z, initial 2026-03-02T10:00Z, intermediate 2026-03-04T10:00Z
72 hours for the data protection authority | 33(1) | data_protection | 2026-12-27T10:00Z | relief all, personalData 2026-12-24T10:00Z
`

const STAGES: readonly string[] = reportStages

function timesIn(text: string): Times {
  const named = text.split(', ').map(pair => pair.split(' ') as [string, string])
  const reports = named.filter(([name]) => STAGES.includes(name))
  return { ...Object.fromEntries(named), reports } as Times
}

const cases = TABLE.trim()
  .split('\n')
  .map(line => line.split(' | ') as [string, string, ReportingClock['stage'], string, string])

describe('the clocks of an incident', () => {
  test.each(cases)('%s (%s)', (_, article, stage, due, times) => {
    const clock = clockOf(stage, timesIn(times))
    expect(clock?.dueAt).toEqual(new Date(due))
    expect(clock?.article).toContain(article)
  })

  test('of what is not major ask for nothing but what the data protection authority is owed', () => {
    const course = { ...courseOf({ personalData: '2026-03-02T08:00:00Z' }), isMajor: false }
    expect(reportingClocks(course, 'all').map(({ stage }) => stage)).toEqual(['data_protection'])
  })

  test('are done by the reports, and no update is owed once the final report was submitted', () => {
    const times: Times = {
      classified: '2026-03-02T09:00:00Z',
      recovered: '2026-03-05T07:00:00Z',
      reports: [
        ['final', '2026-03-20T10:00:00Z'],
        ['initial', '2026-03-02T10:00:00Z'],
        ['intermediate', '2026-03-04T10:00:00Z'],
      ],
    }
    expect(
      reportingClocks(courseOf(times), 'none').map(({ stage, doneAt }) => [stage, doneAt !== null]),
    ).toEqual([
      ['initial', true],
      ['intermediate', true],
      ['final', true],
    ])
  })

  test('remind at half time, an hour before, and when the time is over, each once', () => {
    const course = courseOf({ classified: '2026-03-02T09:00:00Z' })
    const all = unsentIncidentReminders([], course, 'none')
    expect(all.map(({ kind, at }) => [kind, at.toISOString()])).toEqual([
      ['half_time', '2026-03-02T11:00:00.000Z'],
      ['one_hour', '2026-03-02T12:00:00.000Z'],
      ['overdue', '2026-03-02T13:00:00.000Z'],
    ])
    expect(
      unsentIncidentReminders(
        all.slice(0, 2).map(({ name }) => name),
        course,
        'none',
      ),
    ).toEqual(all.slice(2))
  })

  test('send reminders again for a deadline that has moved', () => {
    const before = unsentIncidentReminders([], courseOf({ aware: '2026-03-02T08:00:00Z' }), 'none')
    const given = before.map(({ name }) => name)
    expect(unsentIncidentReminders(given, courseOf({ aware: '2026-03-02T08:00:00Z' }), 'none')).toEqual([])
    expect(unsentIncidentReminders(given, courseOf({ aware: '2026-03-02T09:00:00Z' }), 'none')).toHaveLength(
      3,
    )
  })

  test('with less than two hours remind at half time only, and as it is over', () => {
    const course = courseOf({ aware: '2026-03-02T08:00:00Z', classified: '2026-03-03T07:00:00Z' })
    expect(unsentIncidentReminders([], course, 'none').map(({ kind }) => kind)).toEqual([
      'half_time',
      'overdue',
    ])
  })
})
