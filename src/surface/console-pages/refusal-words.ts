import type { Language } from '../../web/language.ts'

/** The refusals that these pages can show, each with its remedy: English, then German. */
const words: Readonly<Record<string, readonly [en: string, de: string]>> = {
  unauthenticated: [
    'Your session has ended. Sign in again.',
    'Ihre Sitzung ist beendet. Melden Sie sich noch einmal an.',
  ],
  wrong_caller: [
    'Your session has ended. Sign in again.',
    'Ihre Sitzung ist beendet. Melden Sie sich noch einmal an.',
  ],
  missing_scope: [
    'Your role does not allow this. Ask an owner of the account.',
    'Ihre Rolle erlaubt das nicht. Bitten Sie einen Inhaber des Kontos.',
  ],
  account_suspended: [
    'This account is suspended. Ask the operator of the service.',
    'Dieses Konto ist gesperrt. Wenden Sie sich an den Betreiber des Dienstes.',
  ],
  cross_site: [
    'The browser says that this came from another site. Open the page itself, and try again.',
    'Der Browser sagt, das komme von einer anderen Seite. Öffnen Sie die Seite selbst, und versuchen Sie es noch einmal.',
  ],
  rate_limited: [
    'Too many requests, or too many signatures that no passkey confirms, came from your address. Wait a few minutes, and try again.',
    'Von Ihrer Adresse kamen zu viele Anfragen oder zu viele Unterschriften, die kein Passkey bestätigt. Warten Sie einige Minuten, und versuchen Sie es noch einmal.',
  ],
  link_unknown: [
    'This link is not known here. Ask for a new one.',
    'Dieser Link ist hier nicht bekannt. Bitten Sie um einen neuen.',
  ],
  link_used: [
    'This link has been used. Sign in with your passkey, or ask for a new link.',
    'Dieser Link ist schon verbraucht. Melden Sie sich mit Ihrem Passkey an, oder bitten Sie um einen neuen Link.',
  ],
  link_expired: [
    'The time of this link has ended. Ask for a new one.',
    'Dieser Link ist abgelaufen. Bitten Sie um einen neuen.',
  ],
  console_unavailable: [
    'Passkeys need an https address, or localhost. Whoever runs this service has to set PUBLIC_URL.',
    'Passkeys brauchen eine https-Adresse oder localhost. Der Betreiber muss PUBLIC_URL setzen.',
  ],
  passkeys_unavailable: [
    'Passkeys need an https address, or localhost. Whoever runs this service has to set PUBLIC_URL.',
    'Passkeys brauchen eine https-Adresse oder localhost. Der Betreiber muss PUBLIC_URL setzen.',
  ],
  assertion_required: [
    'A passkey of this account has to agree first. Press the button again.',
    'Erst muss ein Passkey dieses Kontos zustimmen. Drücken Sie den Knopf noch einmal.',
  ],
  attestation_required: [
    'This needs a passkey. Press the button again.',
    'Das braucht einen Passkey. Drücken Sie den Knopf noch einmal.',
  ],
  assertion_malformed: [
    'The browser has sent what nobody can read. Load the page again, and try again.',
    'Der Browser hat Unlesbares geschickt. Laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  ],
  assertion_invalid: [
    'This passkey was not accepted. Try again, or use another one.',
    'Dieser Passkey wurde nicht angenommen. Versuchen Sie es noch einmal, oder nehmen Sie einen anderen.',
  ],
  statement_outdated: [
    'What was signed is not what is asked for any more. Load the page again, read it, and try again.',
    'Was unterschrieben wurde, ist nicht mehr das Verlangte. Laden Sie die Seite neu, lesen Sie sie, und versuchen Sie es noch einmal.',
  ],
  person_may_not: [
    'The role of the person of this passkey does not allow this. Ask an owner of the account.',
    'Die Rolle der Person dieses Passkeys erlaubt das nicht. Bitten Sie einen Inhaber des Kontos.',
  ],
  challenge_unknown: [
    'This took place elsewhere. Press the button again.',
    'Das gehörte woanders hin. Drücken Sie den Knopf noch einmal.',
  ],
  challenge_used: [
    'This signature has been used already. Look how it stands, and press the button again if need be.',
    'Diese Unterschrift ist schon verwendet. Sehen Sie nach, wie es steht, und drücken Sie nötigenfalls den Knopf noch einmal.',
  ],
  challenge_expired: [
    'That took longer than five minutes. Press the button again.',
    'Das hat länger als fünf Minuten gedauert. Drücken Sie den Knopf noch einmal.',
  ],
  owner_first: [
    'The first passkey of an account is one of an owner. Ask an owner to create one, and then come back.',
    'Den ersten Passkey eines Kontos legt ein Inhaber an. Bitten Sie einen darum, und kommen Sie dann wieder.',
  ],
  recovery_needed: [
    'The last passkey of this account was revoked. Ask the operator of the service for a recovery.',
    'Der letzte Passkey dieses Kontos wurde widerrufen. Bitten Sie den Betreiber um eine Wiederherstellung.',
  ],
  person_not_active: [
    'You have not joined yet, or are removed. Open the link of your invitation.',
    'Sie sind noch nicht beigetreten oder wurden entfernt. Öffnen Sie den Link Ihrer Einladung.',
  ],
  too_many_passkeys: [
    'You have as many passkeys as anybody can have. Revoke one first.',
    'Sie haben schon so viele Passkeys, wie möglich sind. Widerrufen Sie erst einen.',
  ],
  not_yours: [
    'This passkey is somebody else’s. Only owners change it.',
    'Dieser Passkey gehört jemand anderem. Nur Inhaber ändern ihn.',
  ],
  passkey_exists: [
    'This passkey is enrolled already. Sign in with it.',
    'Diesen Passkey gibt es hier schon. Melden Sie sich mit ihm an.',
  ],
  registration_malformed: [
    'The browser has sent what nobody can read. Load the page again, and try again.',
    'Der Browser hat Unlesbares geschickt. Laden Sie die Seite neu, und versuchen Sie es noch einmal.',
  ],
  registration_invalid: [
    'The device has not confirmed that it is you. Try again, or use another device.',
    'Das Gerät hat Sie nicht bestätigt. Versuchen Sie es noch einmal, oder nehmen Sie ein anderes.',
  ],
  session_not_found: [
    'Your session has ended. Sign in again.',
    'Ihre Sitzung ist beendet. Melden Sie sich noch einmal an.',
  ],
  user_code_unknown: [
    'No device waits under this code. Compare it with the one that the device shows.',
    'Unter diesem Code wartet kein Gerät. Vergleichen Sie ihn mit dem, den das Gerät zeigt.',
  ],
  user_code_expired: [
    'This code has expired, after ten minutes. Begin again on the device.',
    'Dieser Code ist nach zehn Minuten abgelaufen. Beginnen Sie am Gerät von vorn.',
  ],
  too_many_guesses: [
    'Too many wrong codes. Wait ten minutes, and read the code once more on the device.',
    'Zu viele falsche Codes. Warten Sie zehn Minuten, und lesen Sie den Code noch einmal vom Gerät ab.',
  ],
  scope_not_held: [
    'Your role does not have all of these rights any more. Load the page again.',
    'Ihre Rolle hat nicht mehr alle diese Rechte. Laden Sie die Seite neu.',
  ],
  pairing_not_found: [
    'No terminal waits under this code. Compare the address with the one that your terminal shows.',
    'Unter diesem Code wartet kein Terminal. Vergleichen Sie die Adresse mit der in Ihrem Terminal.',
  ],
  pairing_decided: [
    'This is decided already, or the terminal has given up. Begin again in the terminal.',
    'Das ist schon entschieden, oder das Terminal hat aufgegeben. Beginnen Sie im Terminal von vorn.',
  ],
  pairing_expired: [
    'The code has ended, after five minutes. Begin again in the terminal.',
    'Der Code ist nach fünf Minuten abgelaufen. Beginnen Sie im Terminal von vorn.',
  ],
  intent_not_found: ['There is no such intent any more.', 'Diesen Intent gibt es nicht mehr.'],
  intent_not_waiting: [
    'Somebody was faster: it has been decided already.',
    'Jemand war schneller: Es ist schon entschieden.',
  ],
  intent_expired: [
    'Its time has ended. The agent may ask again.',
    'Die Frist ist vorbei. Der Agent darf noch einmal fragen.',
  ],
  agent_not_active: [
    'The agent is frozen or being deleted. Unfreeze it first, or deny the payment.',
    'Der Agent ist eingefroren oder wird gelöscht. Geben Sie ihn erst wieder frei, oder lehnen Sie ab.',
  ],
  insufficient_funds: [
    'There is not enough in the agent’s wallet. Put money into it, or deny the payment.',
    'Im Wallet des Agenten ist nicht genug. Zahlen Sie etwas ein, oder lehnen Sie ab.',
  ],
  wallet_frozen: [
    'The agent’s wallet is frozen. Unfreeze it first, or deny the payment.',
    'Das Wallet des Agenten ist eingefroren. Geben Sie es erst wieder frei, oder lehnen Sie ab.',
  ],
  run_over: [
    'The run has ended: nothing more is spent in it. Deny the payment.',
    'Der Lauf ist zu Ende: In ihm wird nichts mehr bezahlt. Lehnen Sie ab.',
  ],
  delegation_over: [
    'The delegation has ended: nothing more is spent under it. Deny the payment.',
    'Die Delegation ist zu Ende: Unter ihr wird nichts mehr bezahlt. Lehnen Sie ab.',
  ],
  card_closed: [
    'The card is closed and pays nothing more. Deny the payment.',
    'Die Karte ist geschlossen und zahlt nichts mehr. Lehnen Sie ab.',
  ],
  card_of_other_intent: [
    'The card was issued for another intent. Deny the payment.',
    'Die Karte gehört zu einem anderen Intent. Lehnen Sie ab.',
  ],
  against_policy: [
    'The agent’s policy does not allow it at this moment. Change the policy, or deny the payment.',
    'Die Regeln des Agenten erlauben es im Moment nicht. Ändern Sie die Regeln, oder lehnen Sie ab.',
  ],
  busy: [
    'Too much happens at once. Try again in a moment.',
    'Gerade geschieht zu viel auf einmal. Versuchen Sie es gleich noch einmal.',
  ],
  unavailable: [
    'The service cannot work at this moment. Try again in a minute.',
    'Der Dienst kann im Moment nicht arbeiten. Versuchen Sie es in einer Minute noch einmal.',
  ],
  outcome_unknown: [
    'Nobody knows yet whether it was done. Load the page again, and look.',
    'Noch ist nicht bekannt, ob es geschehen ist. Laden Sie die Seite neu, und sehen Sie nach.',
  ],
  internal: [
    'Something went wrong on our side. Load the page again, and look how it stands.',
    'Bei uns ist etwas schiefgegangen. Laden Sie die Seite neu, und sehen Sie nach, wie es steht.',
  ],
}

export const refusalWords = (language: Language): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(words).map(([code, [en, de]]) => [code, language === 'de' ? de : en]))
