import { describe, expect, test } from '@jest/globals'
import type { SepaFileActivities } from '../../../activities/sepa-files.ts'
import { storyStage } from '../../support/temporal/stories.ts'

const { play } = await storyStage<SepaFileActivities>('sepa-file', [
  'readSepaFile',
  'makeSepaFile',
  'stageSepaFile',
  'handOverSepaFile',
  'sayReportIsLate',
  'takeReport',
])

const AN_HOUR = 3_600_000
const AT = '27 Nov 2026 14:00 UTC'
const CUT_OFF = `for payments, until its cut-off, ${AT}`
const REPORT = `for the bank’s report, which is late after ${AT}`
const LATE_REPORT = 'for the bank’s report, which is late'

const file = (status: string, dueInMs: number | null, report: string | null = null, hasNotices = false) => ({
  status,
  report,
  summary: `File in live mode: ${status}`,
  closed: dueInMs === null && report !== 'late',
  hasNotices,
  dueInMs,
  deadline: AT,
  signals: [],
})
const awaited = (dueInMs: number) => file('handed_over', dueInMs, 'awaited')
const awaitedLonger = { ...awaited(AN_HOUR), deadline: 'tomorrow' }
const late = file('handed_over', null, 'late')
const rejected = file('handed_over', 0, 'received', true)
const over = file('handed_over', null, 'received')

describe('the run of a file for the bank', () => {
  test('makes the file at its cut-off, stages it, hands it over, says that the report is late, takes it', async () => {
    const story = await play({
      readSepaFile: [file('open', 20), rejected],
      makeSepaFile: [file('made', 0)],
      stageSepaFile: [file('staged', 0)],
      handOverSepaFile: [awaited(20)],
      sayReportIsLate: [late],
      takeReport: [over],
    })
    await story.waits(LATE_REPORT)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls).toEqual([
      ...['readSepaFile', 'makeSepaFile', 'stageSepaFile', 'handOverSepaFile'],
      ...['sayReportIsLate', 'readSepaFile', 'takeReport'],
    ])
    expect(await story.run.timerSummaries()).toEqual([CUT_OFF, REPORT, LATE_REPORT])
  })

  test('ends with a report that rejects nothing', async () => {
    const story = await play({ readSepaFile: [awaited(AN_HOUR), over] })
    await story.waits(REPORT)
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls).toEqual(['readSepaFile', 'readSepaFile'])
  })

  test('takes what the bank says of the payees, and waits on for the report', async () => {
    const story = await play({
      readSepaFile: [awaited(AN_HOUR), file('handed_over', 0, 'awaited', true), over],
      takeReport: [awaitedLonger],
    })
    await story.waits(REPORT)
    await story.run.signal('recordChanged')
    await story.waits('for the bank’s report, which is late after tomorrow')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls.filter(call => call === 'takeReport')).toHaveLength(1)
  })

  test.each([
    ['without payments', { makeSepaFile: [file('empty', null)] }, 'empty'],
    [
      'of an instant payment',
      {
        makeSepaFile: [file('made', 0)],
        stageSepaFile: [file('staged', 0)],
        handOverSepaFile: [file('handed_over', null)],
      },
      'handed_over',
    ],
  ])('ends at once: a file %s', async (_, script, end) => {
    const story = await play({ readSepaFile: [file('open', 0)], ...script })
    expect(await story.ends()).toBe(end)
    expect(story.calls).toEqual(['readSepaFile', ...Object.keys(script)])
    expect(await story.run.timerSummaries()).toEqual([])
  })

  test.each([
    ['made', 'stageSepaFile'],
    ['staged', 'handOverSepaFile'],
  ])('goes on from a file that is %s, once no other attempt is under way', async (status, activity) => {
    const story = await play({
      readSepaFile: [file(status, 20)],
      stageSepaFile: [file('staged', 0)],
      handOverSepaFile: [file('handed_over', null)],
    })
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls.slice(0, 2)).toEqual(['readSepaFile', activity])
    expect(await story.run.timerSummaries()).toEqual([
      `for the end of another attempt to hand it over, until ${AT}`,
    ])
  })

  test('waits for no cut-off that has passed, as after an outage, and repeats what fails', async () => {
    const away = new Error('the folder is away')
    const story = await play({
      readSepaFile: [file('open', -AN_HOUR)],
      makeSepaFile: [file('made', 0)],
      stageSepaFile: [away, file('staged', 0)],
      handOverSepaFile: [away, file('handed_over', null)],
    })
    expect(await story.ends()).toBe('handed_over')
    expect(story.calls).toEqual([
      ...[
        'readSepaFile',
        'makeSepaFile',
        'stageSepaFile',
        'stageSepaFile',
        'handOverSepaFile',
        'handOverSepaFile',
      ],
    ])
  })

  test('tries again after a second where a step has changed nothing', async () => {
    const story = await play({
      readSepaFile: [file('open', 0)],
      makeSepaFile: [file('open', 0), file('empty', null)],
    })
    expect(await story.ends()).toBe('empty')
    expect(await story.run.timerSummaries()).toEqual(['for a moment, then it tries again'])
  })

  test('has no signals: Request Cancellation changes nothing', async () => {
    const story = await play({ readSepaFile: [awaited(AN_HOUR), over] })
    await story.waits(REPORT)
    await story.run.handle.cancel()
    await story.run.untilDetails('Request Cancellation changed nothing')
    await story.run.signal('recordChanged')
    expect(await story.ends()).toBe('handed_over')
  })
})
