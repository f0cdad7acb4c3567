import { readFileSync } from 'node:fs'
import type { TestClient } from '../../support/client.ts'
import type { Receiver } from '../../support/delivery/receiver-server.ts'
import { aWebhook, bodyOf } from '../../support/factories.ts'
import { type Bank, openBank } from './bank.ts'
import { aRemovedPayee, type Erasure } from './erasure.ts'
import { type Account, type Installation, openAccount } from './installation.ts'
import { aPayer, type Payer } from './load.ts'
import { type OpenProcess, openProcesses, type Stage, signerOf, stageAt } from './open-processes.ts'

/** Accounts that use an installation, each in its own way. */
export interface Work {
  readonly payer: Payer
  /** Has a process of every kind. */
  readonly company: Account
  readonly open: readonly OpenProcess[]
  readonly bank: Bank
  /** A live payment that the bank has, and has not booked yet. */
  readonly submitted: string
  readonly erasure: Erasure
  readonly receiptId: string
  readonly receiver: Receiver
  /** Clients of all accounts, each in the mode in which it was used. */
  readonly clients: readonly TestClient[]
  /** The company’s runs, in the Temporal that runs now. */
  stage(): Stage
}

const RECEIPT = 'docs/pictures/approve-page-phone-light.png'

export async function openWork(place: Installation, receiver: Receiver): Promise<Work> {
  const payer = await aPayer(await openAccount(place, 'Payer'))
  const company = await openAccount(place, 'Company')
  const { client } = company
  const signer = signerOf({ url: place.urls[0], sql: place.sql }, company)
  const { dash, sql } = place
  const stage = () => stageAt(place.temporal, { client, dash, sql, signer }, receiver)
  await aWebhook(client, { url: `${receiver.url}/up`, events: ['intent.completed'] })
  const { open, refused } = await openProcesses(stage())
  if (refused.length > 0) throw new Error(JSON.stringify(refused))
  const file = readFileSync(RECEIPT).toString('base64')
  const { id: receiptId } = await bodyOf(client.receipts.create({ body: { file } }))
  const bank = await openBank(place)
  const submitted = await bank.pay()
  await bank.untilPaid(submitted)
  const erasure = await aRemovedPayee(place)
  const clients = [payer.client, client, bank.account.client, bank.live, erasure.account.client]
  return { payer, company, open, bank, submitted, erasure, receiptId, receiver, clients, stage }
}

/** Whether the uploaded file is there, and opens with the key of the installation. */
export async function hasFile({ urls }: Installation, { company, receiptId }: Work): Promise<boolean> {
  const headers = { authorization: `Bearer ${company.key}` }
  const response = await fetch(`${urls[0]}/receipts/${receiptId}/file`, { headers })
  return response.ok && Buffer.from(await response.arrayBuffer()).equals(readFileSync(RECEIPT))
}
