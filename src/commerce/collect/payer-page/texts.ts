import type { Language } from '../../../web/language.ts'

export type PageState = 'open' | 'under_way' | 'paid' | 'expired' | 'cancelled' | 'refunded'

interface Texts {
  readonly stateLabels: Readonly<Record<PageState, string>>
  /** What the state means for the payer; absent while the page shows how to pay. */
  readonly stateHints: Readonly<Partial<Record<PageState, string>>>
  readonly to: string
  readonly purpose: string
  readonly payBy: string
  readonly partlyPaid: (paid: string, due: string) => string
  readonly test: string
  readonly transfer: string
  readonly holder: string
  readonly amount: string
  readonly reference: string
  readonly referenceHint: string
  readonly code: string
  readonly codeHint: string
  readonly program: string
  readonly programHint: string
  readonly programExample: string
  readonly notPayable: string
  readonly request: string
  readonly unknown: string
  readonly unknownHint: string
}

const english: Texts = {
  stateLabels: {
    open: 'Payment request',
    under_way: 'Payment under way',
    paid: 'Paid',
    expired: 'Expired',
    cancelled: 'Cancelled',
    refunded: 'Refunded',
  },
  stateHints: {
    under_way:
      'A payment is being made at this moment. Please do not pay again; reload this page in a minute.',
    paid: 'This request has been paid. There is nothing left to do.',
    expired: 'The time to pay has passed. Please send no money: ask the payee for a new request.',
    cancelled: 'The payee has withdrawn this request. Please send no money.',
    refunded: 'This request was paid, and the money has been sent back.',
  },
  to: 'to',
  purpose: 'For',
  payBy: 'Pay by',
  partlyPaid: (paid, due) => `${paid} have arrived. ${due} are still due.`,
  test: 'This is a test: no real money is meant.',
  transfer: 'By bank transfer',
  holder: 'Account holder',
  amount: 'Amount',
  reference: 'Reference',
  referenceHint: 'Please give exactly this reference: your payment is found by it.',
  code: 'QR code that fills in the bank transfer',
  codeHint: 'Scan it with your banking app.',
  program: 'By a program',
  programHint:
    'A program that speaks the Machine Payments Protocol asks this address, is answered with 402 Payment Required and a challenge, and pays by card:',
  programExample: 'An agent of this service pays it with an intent of its own:',
  notPayable: 'No way to pay this request is open at the moment. Please ask the payee.',
  request: 'Request',
  unknown: 'No such payment request',
  unknownHint: 'Compare the address with the one that you were given, or ask whoever gave it to you.',
}

const german: Texts = {
  stateLabels: {
    open: 'Zahlungsaufforderung',
    under_way: 'Zahlung läuft',
    paid: 'Bezahlt',
    expired: 'Abgelaufen',
    cancelled: 'Zurückgezogen',
    refunded: 'Erstattet',
  },
  stateHints: {
    under_way:
      'Gerade wird bezahlt. Bitte zahlen Sie nicht noch einmal; laden Sie diese Seite in einer Minute neu.',
    paid: 'Diese Zahlung ist eingegangen. Sie müssen nichts weiter tun.',
    expired:
      'Die Frist ist vorbei. Bitte überweisen Sie nichts, sondern lassen Sie sich eine neue Aufforderung geben.',
    cancelled: 'Der Empfänger hat diese Aufforderung zurückgezogen. Bitte überweisen Sie nichts.',
    refunded: 'Diese Zahlung war eingegangen, und das Geld ist zurückgesandt.',
  },
  to: 'an',
  purpose: 'Für',
  payBy: 'Zahlbar bis',
  partlyPaid: (paid, due) => `${paid} sind eingegangen. ${due} sind noch offen.`,
  test: 'Dies ist ein Test: Es geht nicht um echtes Geld.',
  transfer: 'Per Überweisung',
  holder: 'Kontoinhaber',
  amount: 'Betrag',
  reference: 'Verwendungszweck',
  referenceHint: 'Bitte geben Sie genau das an: Daran wird Ihre Zahlung erkannt.',
  code: 'QR-Code, der die Überweisung ausfüllt',
  codeHint: 'Mit Ihrer Banking-App scannen.',
  program: 'Durch ein Programm',
  programHint:
    'Ein Programm, das das Machine Payments Protocol spricht, fragt diese Adresse, erhält 402 Payment Required mit einer Challenge und zahlt mit Karte:',
  programExample: 'Ein Agent dieses Dienstes zahlt mit einem eigenen Intent:',
  notPayable: 'Im Moment kann diese Aufforderung nicht bezahlt werden. Bitte fragen Sie den Empfänger.',
  request: 'Aufforderung',
  unknown: 'Diese Zahlungsaufforderung gibt es nicht',
  unknownHint: 'Vergleichen Sie die Adresse mit der, die Sie bekommen haben, oder fragen Sie dort nach.',
}

export const texts: Readonly<Record<Language, Texts>> = { en: english, de: german }
