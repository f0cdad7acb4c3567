"""Reads our bank files as a bookkeeping program does, with nothing but Python's standard library."""

import json
import sys
import xml.etree.ElementTree as ElementTree
from decimal import Decimal

PAIN = {"": "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"}
CAMT = {"": "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"}


def orders(document):
    initiation = document.find("CstmrCdtTrfInitn", PAIN)
    transfers = initiation.findall("PmtInf/CdtTrfTxInf", PAIN)
    amounts = [transfer.find("Amt/InstdAmt", PAIN) for transfer in transfers]
    return {
        "count": int(initiation.findtext("GrpHdr/NbOfTxs", namespaces=PAIN)),
        "controlSum": initiation.findtext("GrpHdr/CtrlSum", namespaces=PAIN),
        "sum": str(sum(Decimal(amount.text) for amount in amounts)),
        "currencies": sorted({amount.get("Ccy") for amount in amounts}),
        "payees": [transfer.findtext("Cdtr/Nm", namespaces=PAIN) for transfer in transfers],
        "ibans": [transfer.findtext("CdtrAcct/Id/IBAN", namespaces=PAIN) for transfer in transfers],
        "references": [transfer.findtext("RmtInf/Ustrd", namespaces=PAIN) for transfer in transfers],
    }


def signed(element):
    sign = -1 if element.findtext("CdtDbtInd", namespaces=CAMT) == "DBIT" else 1
    return sign * Decimal(element.findtext("Amt", namespaces=CAMT))


def statement(document):
    stated = document.find("BkToCstmrStmt/Stmt", CAMT)
    balances = {
        balance.findtext("Tp/CdOrPrtry/Cd", namespaces=CAMT): signed(balance)
        for balance in stated.findall("Bal", CAMT)
    }
    entries = stated.findall("Ntry", CAMT)
    computed = balances["OPBD"] + sum(signed(entry) for entry in entries)
    return {
        "entries": len(entries),
        "opening": str(balances["OPBD"]),
        "closing": str(balances["CLBD"]),
        "computed": str(computed),
        "references": [entry.findtext(".//Ustrd", namespaces=CAMT) for entry in entries],
    }


root = ElementTree.fromstring(sys.stdin.buffer.read())
json.dump(orders(root) if root.tag.startswith("{" + PAIN[""]) else statement(root), sys.stdout)
