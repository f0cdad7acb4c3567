import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { authenticate } from 'mailauth'
import { smtpMail, smtpTransport } from '../../src/adapters/smtp/smtp.ts'
import { mailServer } from '../support/delivery/mail-server.ts'
import { certificate } from '../support/http/certificate.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const dkim = {
  domain: 'example.com',
  selector: 'pay',
  privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
}
const server = await mailServer()
const untrusted = await mailServer({ ...certificate, secure: true })
const from = 'pay@example.com'
const mail = smtpMail({ url: server.url, from, dkim })

const message = {
  to: 'ada@example.com',
  subject: 'Freigabe: 25,00 € für „Bücher“',
  text: 'Ein Agent wartet.\nhttps://pay.example.com/approve/intent_1',
  html: '<p>Ein Agent wartet.</p>',
  id: 'evt_1.channel_1',
}

const received = (to: string) => server.messages.filter(one => one.to.includes(to))

describe('a message by SMTP', () => {
  test('arrives with both parts, its own id, and a DKIM signature that verifies', async () => {
    expect(await mail.send(message)).toEqual({ kind: 'accepted' })
    const [{ parsed, raw, ...envelope } = {} as never] = received(message.to)
    expect(envelope).toEqual({ to: ['ada@example.com'], from })
    expect(parsed.subject).toBe(message.subject)
    expect(parsed.text?.trim()).toBe(message.text)
    expect(parsed.html).toContain('Ein Agent wartet.')
    expect(parsed.messageId).toBe('<evt_1.channel_1@example.com>')
    expect(parsed.headers.get('auto-submitted')).toBe('auto-generated')
    expect(parsed.from?.value).toEqual([{ name: 'Agent Payments', address: from }])
    const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
    const { dkim: checked } = await authenticate(raw, {
      ip: '127.0.0.1',
      helo: 'example.com',
      sender: from,
      async resolver(name: string, type: string) {
        if (name === 'pay._domainkey.example.com' && type === 'TXT') return [[`v=DKIM1; k=rsa; p=${key}`]]
        throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      },
    })
    expect(checked.results.map(({ status, signingDomain }) => [status.result, signingDomain])).toEqual([
      ['pass', 'example.com'],
    ])
  })

  test.each([
    ['line breaks', 'Agent\r\nBcc: eve@example.com'],
    ['other ends of lines', 'Agent\u2028Bcc: eve@example.com\u0085X: y'],
    ['markup of an address', '"<eve@example.com>," Agent'],
  ])('with %s in its subject has no further header or recipient', async (_, subject) => {
    const to = `${Buffer.from(subject).toString('hex').slice(0, 20)}@example.com`
    await mail.send({ ...message, to, subject })
    const [{ parsed, to: recipients } = {} as never] = received(to)
    expect(recipients).toEqual([to])
    expect(parsed.headers.has('bcc')).toBe(false)
    expect(parsed.headers.has('x')).toBe(false)
  })

  test.each([
    [550, true],
    [451, false],
  ])('that is refused with %i says whether another attempt is of use', async (status, isFinal) => {
    const to = `refused-${status}@example.com`
    server.answerWith(to, status)
    expect(await mail.send({ ...message, to })).toEqual({
      kind: 'failed',
      message: `The mail server answered ${status} (EENVELOPE).`,
      isFinal,
    })
  })

  test('to a server that is not there can be sent later', async () => {
    const unreachable = smtpMail({ url: 'smtp://127.0.0.1:9', from, dkim: null })
    expect(await unreachable.send(message)).toMatchObject({ kind: 'failed', isFinal: false })
  })

  test('whose connection breaks can be sent later', async () => {
    const breaking = createServer(socket => socket.destroy())
    await new Promise<void>(resolve => breaking.listen(0, '127.0.0.1', () => resolve()))
    const address = breaking.address()
    const port = address && typeof address === 'object' ? address.port : 0
    const broken = smtpMail({ url: `smtp://127.0.0.1:${port}`, from, dkim: null })
    expect(await broken.send(message)).toMatchObject({ kind: 'failed', isFinal: false })
    breaking.close()
  })
})

describe('the connection', () => {
  const of = (url: string) => smtpTransport({ url, from, dkim: null })

  test('is encrypted to every other machine, and its user is signed in', () => {
    expect(of('smtp://ada:p%40ss@mail.example')).toMatchObject({
      host: 'mail.example',
      port: 587,
      secure: false,
      requireTLS: true,
      ignoreTLS: false,
      auth: { user: 'ada', pass: 'p@ss' },
    })
    expect(of('smtps://mail.example')).toMatchObject({ port: 465, secure: true, ignoreTLS: false })
    expect(of('smtp://127.0.0.1.example')).toMatchObject({ requireTLS: true })
    expect(of('smtp://127.0.0.1:25')).toMatchObject({ port: 25, requireTLS: false })
  })

  test('fails, and sends nothing, where the certificate is not trusted', async () => {
    const url = untrusted.url.replace('smtp:', 'smtps:')
    expect(await smtpMail({ url, from, dkim: null }).send(message)).toMatchObject({ kind: 'failed' })
    expect(untrusted.messages).toEqual([])
  })

  test('fails, and sends nothing, where encryption is required and not offered', async () => {
    const { default: nodemailer } = await import('nodemailer')
    const options = { ...of(server.url), requireTLS: true, ignoreTLS: false }
    const before = server.messages.length
    const sending = nodemailer.createTransport(options).sendMail({ from, to: 'ada@example.com', text: 'x' })
    await expect(sending).rejects.toMatchObject({ code: expect.stringMatching(/^E(TLS|SOCKET|PROTOCOL)$/) })
    expect(server.messages).toHaveLength(before)
  })
})
