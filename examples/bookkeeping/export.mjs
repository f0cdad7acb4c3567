// A month for the bookkeeper: each wallet's statement as CSV, PDF and camt.053, and a table of totals. It
// checks that each statement adds up (opening balance, movements, closing balance), and that the ledger
// agrees. It needs Node 18.
//
//     node export.mjs 2026-11 [folder]     finds the service by .data/instance.json; or set API_URL and API_KEY
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const INSTANCE = `${process.env.DATA_DIR ?? '.data'}/instance.json`
const instance = existsSync(INSTANCE) ? JSON.parse(readFileSync(INSTANCE, 'utf8')) : {}
const { API_URL = instance.url, API_KEY = instance.apiKey } = process.env
const [period = '', folder = `books-${period}`] = process.argv.slice(2)
if (!API_URL || !API_KEY || !/^\d{4}-\d\d$/.test(period)) {
  console.error('node export.mjs 2026-11 [folder], beside npm start or with API_URL and API_KEY')
  process.exit(1)
}

async function ask(method, path, body) {
  const response = await fetch(API_URL + path, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  })
  if (response.ok) return response
  if (response.status === 429) {
    const seconds = Number(response.headers.get('retry-after'))
    console.error(`Rate limit reached: waiting ${seconds} s.`)
    await new Promise(resolve => setTimeout(resolve, 1_000 * seconds))
    return ask(method, path, body)
  }
  const { error } = await response.json()
  throw Object.assign(new Error(`${method} ${path}: ${error}`), {
    code: response.headers.get('x-error-code'),
  })
}

/** Yields the records of all pages of a list. */
async function* all(path) {
  for (let cursor = ''; cursor !== null; ) {
    const page = await (await ask('GET', `${path}&limit=100${cursor && `&cursor=${cursor}`}`)).json()
    yield* page.data
    cursor = page.nextCursor
  }
}

const cents = euros => Math.round(euros * 100)

/** The statement of a wallet with its files; undefined for a wallet that was opened later. */
async function exported(wallet) {
  const asked = { walletId: wallet.id, period }
  const statement = await ask('POST', '/statements', asked).catch(error => {
    if (error.code === 'period_before_wallet') return undefined
    throw error
  })
  if (!statement) return undefined
  const record = await statement.json()
  for (const kind of ['csv', 'pdf', 'camt053']) {
    const file = await ask('GET', `/statements/${record.id}/${kind}`)
    const extension = kind === 'camt053' ? 'camt053.xml' : kind
    writeFileSync(join(folder, `${wallet.id}.${extension}`), Buffer.from(await file.arrayBuffer()))
  }
  const { openingEuros, inEuros, outEuros, closingEuros } = record
  if (cents(openingEuros) + cents(inEuros) - cents(outEuros) !== cents(closingEuros))
    throw new Error(`The statement ${record.id} does not add up.`)
  return record
}

mkdirSync(folder, { recursive: true })
const rows = []
for (const status of ['active', 'frozen', 'closed'])
  for await (const wallet of all(`/wallets?status=${status}`)) {
    const record = await exported(wallet)
    if (record) rows.push({ wallet, ...record })
  }
const quoted = text => `"${String(text).replaceAll('"', '""')}"`
const figures = ['openingEuros', 'inEuros', 'outEuros', 'closingEuros']
const lines = rows.map(row =>
  [quoted(row.wallet.name), row.iban ?? '', row.movements, ...figures.map(name => row[name])].join(','),
)
writeFileSync(
  join(folder, 'wallets.csv'),
  `${['wallet', 'iban', 'movements', ...figures].join(',')}\n${lines.join('\n')}\n`,
)
const total = name => (rows.reduce((sum, row) => sum + cents(row[name]), 0) / 100).toFixed(2)
const { ok, problems } = await (await ask('POST', '/ledger/verify', {})).json()
if (!ok) throw new Error(`The ledger does not agree: ${JSON.stringify(problems)}`)
console.log(
  `${rows.length} wallets in ${period}: in € ${total('inEuros')}, out € ${total('outEuros')}, left € ${total('closingEuros')}.`,
)
console.log(`The ledger agrees. The files are in ${folder}.`)
