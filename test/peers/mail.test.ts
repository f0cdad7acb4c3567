import { expect, test } from '@jest/globals'
import { smtpMail } from '../../src/adapters/smtp/smtp.ts'
import { emailParts } from '../../src/delivery/channels/formats.ts'
import { questionContent } from '../../src/delivery/channels/texts.ts'
import { cents } from '../../src/values/money.ts'
import { type Language, languages } from '../../src/web/language.ts'
import { mailServer } from '../support/delivery/mail-server.ts'
import { runPeer } from '../support/processes/peer.ts'

const server = await mailServer()
const mail = smtpMail({ url: server.url, from: 'pay@example.com', dkim: null })

const sent = async (agent: string, language: Language) => {
  const content = questionContent(
    {
      kind: 'intent',
      facts: {
        agent,
        amountCents: cents(123_450),
        payee: 'Bäckerei Müller',
        purpose: 'Brötchen',
        person: null,
      },
      url: 'https://pay.example.com/approve/intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      isTest: false,
      hasDetails: true,
      isLastOfHour: false,
    },
    language,
  )
  const parts = emailParts([content])
  expect(await mail.send({ to: 'ada@example.com', id: 'event_1.channel_1', ...parts })).toEqual({
    kind: 'accepted',
  })
  const raw = server.messages.at(-1)?.raw ?? Buffer.alloc(0)
  return { parts, read: JSON.parse(await runPeer('python3', ['test/peers/mail.py'], raw.toString('latin1'))) }
}

test.each(languages)('a Python program reads the whole of our e-mail in %s', async language => {
  const { parts, read } = await sent('Rechercheur № 1 🤖', language)
  expect(read).toMatchObject({
    subject: parts.subject,
    from: [['Agent Payments', 'pay@example.com']],
    to: ['ada@example.com'],
    messageId: '<event_1.channel_1@example.com>',
    autoSubmitted: 'auto-generated',
    type: 'multipart/alternative',
    defects: [],
  })
  const [text, html] = read.parts
  expect(text).toEqual(['text/plain', expect.stringContaining('Bäckerei Müller')])
  expect(text[1].trim()).toBe(parts.text)
  expect(html[0]).toBe('text/html')
  expect(html[1].trim()).toBe(parts.html)
})

test('a Python program finds no further header in it, whatever the agent is called', async () => {
  const { read: plain } = await sent('Agent', 'en')
  for (const name of [
    'A\r\nBcc: eve@example.com\r\n\r\nbody',
    '=?utf-8?q?=0D=0ABcc:_eve?=',
    '"<eve@example.com>"',
  ]) {
    const { read } = await sent(name, 'en')
    expect(read.names).toEqual(plain.names)
    expect(read.defects).toEqual([])
    expect(read.to).toEqual(['ada@example.com'])
  }
})
