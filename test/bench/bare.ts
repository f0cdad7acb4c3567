import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import express, { type NextFunction, type Request, type Response } from 'express'
import { clock } from '../../src/values/clock.ts'
import { BARE_KEY, Note } from './echo.ts'

/** A plain Express server without the kernel, with the same headers, limit, key, parsing and validation. */
const LIMIT = 1_000_000
const windows = new Map<string, { used: number; resetsAt: number }>()
const digest = (text: string) => createHash('sha256').update(text).digest()
const expected = digest(BARE_KEY)

function greet(request: Request, response: Response, next: NextFunction): void {
  response.setHeader('X-Data-Residency', 'EU')
  response.setHeader('X-Request-Id', request.headers['x-request-id'] ?? randomUUID())
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Cache-Control', 'no-store')
  next()
}

function limit(request: Request, response: Response, next: NextFunction): void {
  const now = clock.milliseconds()
  const client = request.ip ?? ''
  const current = windows.get(client)
  const window = current && current.resetsAt > now ? current : { used: 0, resetsAt: now + 60_000 }
  window.used++
  windows.set(client, window)
  response.setHeader('X-RateLimit-Limit', String(LIMIT))
  response.setHeader('X-RateLimit-Remaining', String(Math.max(0, LIMIT - window.used)))
  response.setHeader('X-RateLimit-Reset', String(Math.ceil(window.resetsAt / 1000)))
  if (window.used > LIMIT) response.status(429).json({ error: 'Too many requests.' })
  else next()
}

function authenticate(request: Request, response: Response, next: NextFunction): void {
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  if (timingSafeEqual(digest(token), expected)) next()
  else response.status(401).json({ error: 'Send a valid key.' })
}

function echo(request: Request, response: Response): void {
  const { success, data } = Note.safeParse(request.body)
  if (success) response.status(200).json(data)
  else response.status(400).json({ error: 'The request is not valid.' })
}

const app = express().disable('x-powered-by').disable('etag')
app.use(greet, limit, authenticate, express.json({ limit: '1mb' }))
app.post('/echo', echo)
const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`Listening on http://127.0.0.1:${port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
