import { expect, test } from '@jest/globals'
import { htmlToText } from '../../../src/web/html.ts'

test.each([
  ['Bookshop', 'Bookshop'],
  ['  two\n\tlines ', 'two lines'],
  ['pay\u202elaP', 'pay\ufffdlaP'],
  ['a\u2066b\u2069c\u200b\u200fd', 'a\ufffdb\ufffdc\ufffdd'],
  ['bell\u0007', 'bell\ufffd'],
  ['Bank\u3164\u115f\u1160\uffa0\u2800Ltd', 'Bank\ufffdLtd'],
  ['Ama\u00adzon\u034f', 'Ama\ufffdzon\ufffd'],
  ['Bank\u{e0041}\u180e\u17b4\ufff9', 'Bank\ufffd'],
  ['Ama\u200dzon \ufe0fEU', 'Ama\ufffdzon \ufffdEU'],
  ['\u200d\u200c', '\ufffd'],
  ['1️⃣ 👩‍👧 Söhne', '1️⃣ 👩‍👧 Söhne'],
  ['❤️ 葛\u{e0100}', '❤️ 葛\u{e0100}'],
  ['می‌خواهم', 'می‌خواهم'],
  ['<img src=x>', '<img src=x>'],
])('the third-party text %j is shown as %j', (text, shown) => {
  expect(htmlToText(text)).toBe(shown)
})

test('a long text is cut between characters as readers see them', () => {
  expect(htmlToText('a'.repeat(10), 10)).toBe('a'.repeat(10))
  expect(htmlToText('a'.repeat(11), 10)).toBe(`${'a'.repeat(9)}…`)
  expect(htmlToText('👩‍👧'.repeat(11), 10)).toBe(`${'👩‍👧'.repeat(9)}…`)
  expect(htmlToText(`e${'\u0301'.repeat(1_000_000)}`, 10).length).toBeLessThan(100)
})
