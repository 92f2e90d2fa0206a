#!/usr/bin/env python3
"""Make the sample feeds: three cars over four days as CloudEvents, one JSON object a line, gzip.

usage: make_sample.py [FOLDER]      write the three files (default: beside this script)
       make_sample.py --check       compare them with what is there; exit 1 when they differ

Same output on every machine: fixed dates, fixed seeds, numbers rounded. README.md beside this file tells what is in them.
"""
import datetime
import gzip
import json
import math
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
VEHICLES = "did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF"
DEVICES = "did:erc721:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA"
SOURCE = "0x5555555555555555555555555555555555555555"
SECOND_SOURCE = "0x6666666666666666666666666666666666666666"
MONDAY = datetime.datetime(2026, 10, 5, tzinfo=datetime.timezone.utc)
DAYS = 4
SAMPLE_SECONDS, SAMPLES_PER_EVENT = 15, 4
METRES_PER_DEGREE = 111_320

# Ways through Berlin, corner by corner: latitude, longitude.
HOME_TO_WORK = [(52.47312, 13.40318), (52.47791, 13.40155), (52.48457, 13.38702), (52.49286, 13.38694), (52.49752, 13.39107),
                (52.50388, 13.39003), (52.50987, 13.37684), (52.51628, 13.37770), (52.52184, 13.38512), (52.52602, 13.38721),
                (52.53093, 13.38497)]
WORK_TO_SHOP = [(52.53093, 13.38497), (52.52688, 13.39884), (52.52356, 13.41163), (52.51832, 13.42876), (52.51214, 13.43992)]
SHOP_TO_HOME = [(52.51214, 13.43992), (52.50141, 13.44198), (52.49338, 13.42741), (52.48672, 13.42493), (52.48071, 13.41827),
                (52.47312, 13.40318)]
OUT_OF_TOWN = [(52.47312, 13.40318), (52.46218, 13.38478), (52.45533, 13.34286), (52.44417, 13.28790), (52.43119, 13.19122),
               (52.40187, 13.12608), (52.39612, 13.05893)]
TWO_STOPS = [(52.54903, 13.35920), (52.54318, 13.36641), (52.53721, 13.34402), (52.53010, 13.32756), (52.52433, 13.31409)]


def iso(when):
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03d}Z"


def at(day, hour, minute=0):
    return MONDAY + datetime.timedelta(days=day, hours=hour, minutes=minute)


class Feed:
    """Collects the CloudEvents of one car in the order in which they are sent."""

    def __init__(self, token, prefix):
        self.subject, self.producer, self.prefix = f"{VEHICLES}:{token}", f"{DEVICES}:{token}", prefix
        self.events = []

    def add(self, kind, when, data, source=SOURCE):
        self.events.append({
            "specversion": "1.0", "id": f"{self.prefix}-{len(self.events):05d}", "source": source, "producer": self.producer,
            "subject": self.subject, "time": iso(when), "type": kind, "datacontenttype": "application/json",
            "dataversion": "default/v1.0", "data": data,
        })

    def status(self, when, signals, source=SOURCE):
        self.add("dimo.status", when, {"signals": signals}, source)

    def event(self, when, name, duration_ns=0, metadata="", tags=(), source=SOURCE):
        item = {"name": name, "timestamp": iso(when), "durationNs": duration_ns, "metadata": metadata, "tags": list(tags)}
        self.add("dimo.events", when, {"events": [item]}, source)


def signal(name, when, value):
    return {"name": name, "timestamp": iso(when), "value": value}


def location(when, latitude, longitude, hdop):
    value = {"latitude": round(latitude, 6), "longitude": round(longitude, 6), "hdop": hdop}
    return signal("currentLocationCoordinates", when, value)


def metres(a, b):
    return math.hypot((b[0] - a[0]) * METRES_PER_DEGREE, (b[1] - a[1]) * METRES_PER_DEGREE * math.cos(math.radians(a[0])))


class Drive:
    """One trip along a way: position and speed every SAMPLE_SECONDS, from standing to standing."""

    def __init__(self, start, way, cruise_kmh, rng):
        self.samples = []  # (when, kilometres since the start, km/h, (latitude, longitude))
        self.length = sum(metres(a, b) for a, b in zip(way, way[1:]))
        travelled, speed, when = 0.0, 0.0, start
        while True:
            self.samples.append((when, travelled / 1000, round(speed, 1), self._point(way, travelled)))
            if travelled >= self.length:
                break
            left = self.length - travelled
            wanted = min(cruise_kmh * rng.uniform(0.7, 1.1), 8 + left * 0.25)
            if rng.random() < 0.12 and left > 400:
                wanted = 0.0  # a red light
            speed = max(0.0, min(wanted, speed + 35))
            travelled = min(self.length, travelled + max(speed, 2.0) / 3.6 * SAMPLE_SECONDS)
            when += datetime.timedelta(seconds=SAMPLE_SECONDS)
        last = self.samples[-1]
        self.samples[-1] = (last[0], last[1], 0.0, last[3])
        self.start, self.end = start, last[0]

    @staticmethod
    def _point(way, travelled):
        for a, b in zip(way, way[1:]):
            step = metres(a, b)
            if travelled <= step:
                part = travelled / step
                return a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part
            travelled -= step
        return way[-1]

    def groups(self):
        for first in range(0, len(self.samples), SAMPLES_PER_EVENT):
            yield self.samples[first:first + SAMPLES_PER_EVENT]


def combustion():
    """A commuter: to work, by the shop and home; fuelled on the third day; out of town on the last."""
    feed, rng = Feed(1, "combustion"), random.Random(1)
    odometer, fuel = 48_211.4, 61.0

    def drive(start, way, cruise):
        nonlocal odometer, fuel
        trip = Drive(start, way, cruise, rng)
        feed.status(start, [signal("isIgnitionOn", start, 1), signal("powertrainType", start, "COMBUSTION"),
                            signal("lowVoltageBatteryCurrentVoltage", start, 14.1)])
        for group in trip.groups():
            signals = []
            for when, kilometres, speed, point in group:
                engine = 780 if speed == 0 else 1100 + (speed * 37) % 1500
                signals += [
                    signal("speed", when, speed),
                    signal("powertrainCombustionEngineSpeed", when, round(engine + rng.uniform(-40, 40))),
                    location(when, point[0] + rng.gauss(0, 1e-5), point[1] + rng.gauss(0, 1e-5), round(rng.uniform(0.7, 1.6), 1)),
                ]
            when, kilometres = group[-1][:2]
            warm = min(90, 18 + 72 * (when - start).total_seconds() / 600)
            signals += [
                signal("powertrainTransmissionTravelledDistance", when, round(odometer + kilometres, 1)),
                signal("powertrainFuelSystemRelativeLevel", when, round(fuel - kilometres * 0.14, 1)),
                signal("powertrainCombustionEngineECT", when, round(warm)),
                signal("exteriorAirTemperature", when, round(11 + 4 * math.sin((when.hour - 9) / 24 * 2 * math.pi), 1)),
            ]
            feed.status(when, signals)
        odometer += trip.length / 1000
        fuel -= trip.length / 1000 * 0.14
        off = trip.end + datetime.timedelta(seconds=SAMPLE_SECONDS)
        feed.status(off, [signal("isIgnitionOn", off, 0), signal("powertrainCombustionEngineSpeed", off, 0),
                          signal("lowVoltageBatteryCurrentVoltage", off, 12.6)])
        return trip

    for day in range(DAYS):
        feed.status(at(day, 5), [signal("lowVoltageBatteryCurrentVoltage", at(day, 5), round(12.4 - day * 0.02, 2))])
        morning = drive(at(day, 6, 40 + 3 * day), HOME_TO_WORK, 42)
        braking = morning.samples[len(morning.samples) // 2][0]
        feed.event(braking, "behavior.harshBraking", 1_200_000_000, '{"g":0.42}', ["behavior.harshbraking"])
        feed.status(at(day, 11), [signal("lowVoltageBatteryCurrentVoltage", at(day, 11), 12.5)])
        evening = drive(at(day, 16, 5 + 7 * day), WORK_TO_SHOP, 38)
        if day % 2:
            feed.event(evening.samples[3][0], "behavior.harshAcceleration", 900_000_000, "", ["behavior.harshacceleration"])
        if day == 2:
            fuel = 96.0
            feed.status(at(2, 16, 50), [signal("powertrainFuelSystemRelativeLevel", at(2, 16, 50), fuel)])
        home = drive(at(day, 17, 10 + 2 * day), SHOP_TO_HOME, 36)
        feed.event(home.samples[5][0], "behavior.harshCornering", 700_000_000, '{"g":0.37}', ["behavior.harshcornering"])
    drive(at(3, 19, 15), OUT_OF_TOWN, 72)
    return feed.events


def electric():
    """Short trips, charged at home by night and once at a fast charger."""
    feed, rng = Feed(2, "electric"), random.Random(2)
    odometer, charge, capacity = 12_904.0, 63.0, 58.0

    def state(when):
        return [signal("powertrainTractionBatteryStateOfChargeCurrent", when, round(charge, 1)),
                signal("powertrainTractionBatteryRange", when, round(charge * 3.4))]

    def drive(start, way, cruise):
        nonlocal odometer, charge
        trip = Drive(start, way, cruise, rng)
        feed.status(start, [signal("isIgnitionOn", start, 1), signal("powertrainType", start, "ELECTRIC"), *state(start)])
        for group in trip.groups():
            signals, before = [], charge
            for when, kilometres, speed, point in group:
                signals += [
                    signal("speed", when, speed),
                    signal("powertrainTractionBatteryCurrentPower", when, round(-speed * 210 + rng.uniform(-900, 900))),
                    location(when, *point, round(rng.uniform(0.6, 1.2), 1)),
                ]
            charge = before - (group[-1][1] - group[0][1]) * 17 / capacity
            signals += [signal("powertrainTransmissionTravelledDistance", when, round(odometer + kilometres, 1)), *state(when)]
            feed.status(when, signals)
        odometer += trip.length / 1000
        off = trip.end + datetime.timedelta(seconds=SAMPLE_SECONDS)
        feed.status(off, [signal("isIgnitionOn", off, 0), *state(off)])
        return trip

    def charging(start, target, kilowatts, voltage, minutes_between):
        nonlocal charge
        when, added = start, 0.0
        feed.status(when, [signal("powertrainTractionBatteryChargingIsChargingCableConnected", when, 1),
                           signal("powertrainTractionBatteryChargingIsCharging", when, 1),
                           signal("powertrainTractionBatteryChargingChargeLimit", when, target)])
        while charge < target:
            when += datetime.timedelta(minutes=minutes_between)
            power = kilowatts * (1.0 if charge < target - 8 else 0.55)  # slower near the limit
            step = min(power * minutes_between / 60, (target - charge) / 100 * capacity)
            charge, added = min(target, charge + step / capacity * 100), added + step
            feed.status(when, [
                signal("powertrainTractionBatteryChargingIsCharging", when, 1),
                signal("powertrainTractionBatteryChargingPower", when, round(power + rng.uniform(-0.1, 0.1), 2)),
                signal("powertrainTractionBatteryChargingAddedEnergy", when, round(added, 2)),
                signal("powertrainTractionBatteryChargingChargeVoltageUnknownType", when, voltage + rng.randint(-2, 2)),
                signal("powertrainTractionBatteryTemperatureAverage", when, round(19 + kilowatts / 6 + rng.uniform(0, 1), 1)),
                *state(when),
            ])
        done = when + datetime.timedelta(minutes=1)
        feed.status(done, [signal("powertrainTractionBatteryChargingIsCharging", done, 0),
                           signal("powertrainTractionBatteryChargingPower", done, 0), *state(done)])
        unplugged = done + datetime.timedelta(minutes=30)
        feed.status(unplugged, [signal("powertrainTractionBatteryChargingIsChargingCableConnected", unplugged, 0)])

    for day in range(DAYS):
        drive(at(day, 8, 5 * day), TWO_STOPS, 34)
        if day == 2:
            charging(at(2, 9, 10), 80, 50, 402, 2)
        back = drive(at(day, 14, 20), list(reversed(TWO_STOPS)), 34)
        feed.event(back.samples[-4][0], "behavior.extremeBraking", 500_000_000, '{"g":0.61}', ["behavior.extremebraking"])
        if day == 1:
            drive(at(1, 18), list(reversed(OUT_OF_TOWN)), 75)
        charging(at(day, 20, 30), 80, 11, 231, 10)
    return feed.events


def dirty():
    """A feed with everything that goes wrong on the way: see README.md for the list and the rows that must come out of it."""
    feed, rng = Feed(3, "dirty"), random.Random(3)
    for day in range(DAYS):
        for trip in (Drive(at(day, 7, 30), HOME_TO_WORK, 40, rng), Drive(at(day, 17), list(reversed(HOME_TO_WORK)), 40, rng)):
            feed.status(trip.start, [signal("isIgnitionOn", trip.start, 1)])
            for number, group in enumerate(trip.groups()):
                signals = []
                for when, _, speed, point in group:
                    if number % 6 == 2:
                        point = (0.0, 0.0)  # no fix
                    signals += [signal("speed", when, speed), location(when, *point, 1.0)]
                feed.status(group[-1][0], signals)
                if number % 3 == 0:
                    # A second device in the same car reports the same instants, a little differently.
                    feed.status(group[-1][0], [signal("speed", when, round(speed + 1.5, 1)) for when, _, speed, _ in group],
                                SECOND_SOURCE)
            feed.status(trip.end, [signal("isIgnitionOn", trip.end, 0)])
    feed.event(at(1, 7, 41), "safety.collision", 0, '{"severity":"low"}', ["safety.collision"])
    feed.event(at(2, 17, 9), "behavior.harshBraking", 800_000_000, '{"g":0.44}', ["behavior.harshbraking"], SECOND_SOURCE)

    bad = at(2, 12)
    good = signal("speed", bad, 0.0)
    feed.status(bad, [good, signal("noSuchSignal", bad, 1)])
    feed.status(bad, [good, {"name": "speed", "timestamp": iso(bad)}])
    feed.status(bad, [good, signal("speed", at(2, 12, 1), "fast")])
    feed.status(bad, [good, signal("speed", at(2, 12, 2), True)])
    feed.status(bad, [good, signal("speed", at(2, 12, 3), "NaN")])
    feed.status(bad, [good, {"name": "speed", "timestamp": "yesterday", "value": 1}])
    feed.status(bad, [good, None])
    feed.status(bad, [signal("speed", datetime.datetime(2099, 1, 1, tzinfo=datetime.timezone.utc), 250)])
    feed.add("dimo.status", bad, {"signals": [good, 7]})
    feed.add("dimo.events", bad, {"events": [{"name": "behavior.unknown", "timestamp": iso(bad)}]})

    events = feed.events
    # Sent again: every ninth event as it was, right behind or much later.
    events += [dict(event) for event in events[::9]]
    # Out of order: each event moves by up to an hour's worth, and one trip arrives a day late.
    order = {id(event): position + rng.uniform(-12, 12) for position, event in enumerate(events)}
    for event in events:
        if event["time"].startswith("2026-10-06T17"):
            order[id(event)] += 60
    return sorted(events, key=lambda event: order[id(event)])


FEEDS = {"combustion.ndjson.gz": combustion, "electric.ndjson.gz": electric, "dirty.ndjson.gz": dirty}


def text_of(events):
    return "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events).encode()


def main():
    check = "--check" in sys.argv[1:]
    folder = pathlib.Path(next((argument for argument in sys.argv[1:] if argument != "--check"), HERE))
    differing = []
    for name, make in FEEDS.items():
        text = text_of(make())
        if check:
            if gzip.decompress((folder / name).read_bytes()) != text:
                differing.append(name)
        else:
            (folder / name).write_bytes(gzip.compress(text, 9, mtime=0))
            print(f"{name}: {text.count(10)} events, {len(text)} bytes, {(folder / name).stat().st_size} packed")
    if differing:
        sys.exit(f"differ from what make_sample.py makes: {', '.join(differing)}")


if __name__ == "__main__":
    main()
